package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A connection that is given up while commands wait for the replies to earlier ones. */
class DroppedConnectionTest {
  /** Two of these are more than is sent before all is answered. */
  private static final String LARGE = "return 1 --" + "x".repeat(40_000);

  @Test
  @Rule("FAULT-3")
  @DisplayName("a connection that is dropped by a reply answers for all commands behind it")
  void aDroppedConnectionAnswersForAllCommands() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        Driver driver = Links.over(Links.Kind.OWN, servers.uris())) {
      AtomicInteger ends = driver.connect(0);
      servers.node(0).freeze();
      List<Asked> asked = new ArrayList<>();
      asked.add(Asked.of(driver.first(), NodeSet.of(0), () -> driver.first().disconnect(0), LARGE));
      for (int behind = 0; behind < 3; behind++) {
        asked.add(Asked.of(driver.first(), LARGE));
      }
      servers.node(0).thaw();

      soon().until(() -> asked.stream().allMatch(each -> each.answers().size() == 1));
      soon().until(() -> ends.get() == 1);
      assertThat(asked.subList(1, 4)).allSatisfy(each -> each.failure());
    }
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("closing on an interrupted thread ends the connections before it returns")
  void closingOnAnInterruptedThreadEndsTheConnections() throws Exception {
    try (TestNodes servers = TestNodes.start(1)) {
      Driver driver = Links.over(Links.Kind.OWN, servers.uris());
      AtomicInteger ends = driver.connect(0);
      CountDownLatch isBusy = new CountDownLatch(1);
      CountDownLatch never = new CountDownLatch(1);
      Asked.of(
          driver.first(),
          NodeSet.of(0),
          () -> {
            isBusy.countDown();
            assertThatCode(() -> never.await(300, TimeUnit.MILLISECONDS))
                .doesNotThrowAnyException();
          },
          "return 1");
      isBusy.await();
      Thread.currentThread().interrupt();

      driver.close();
      int ended = ends.get();

      assertThat(Thread.interrupted()).isTrue();
      assertThat(ended).isEqualTo(1);
    }
  }
}
