package dev.holdfast.redlock.redisson;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import org.junit.jupiter.api.Test;

/** The artifact that README names brings our warnings to SLF4J, and to its backend. */
class Slf4jTest {
  @Test
  void warningsAreLoggedThroughSlf4jWithTheirArguments() {
    assertThat(System.getLogger("dev.holdfast.redlock.Redlock").getClass().getName())
        .startsWith("org.slf4j.");

    try (TestNodes nodes = TestNodes.start(3);
        Logs logs = new Logs();
        LockManager locks = LockManager.open("redlock:" + String.join(",", nodes.uris()))) {
      assertThat(locks.inspect("free")).isEmpty();
      nodes.node(0).kill();

      soon()
          .untilAsserted(
              () ->
                  assertThat(logs.messages())
                      .anyMatch(
                          line ->
                              line.startsWith(
                                      "WARNING node " + nodes.node(0).address() + " is down: ")
                                  && line.contains("trying again every second")));
    }
  }
}
