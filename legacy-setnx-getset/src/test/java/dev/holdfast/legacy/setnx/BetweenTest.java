package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import org.junit.jupiter.api.Test;

class BetweenTest {
  @Test
  void whatFailsBeforeACommandFailsTheTestWhenItIsClosed() {
    AssertionError wrong = new AssertionError("not what the test expects");
    try (TestNodes nodes = TestNodes.start(1)) {
      Between between = new Between(nodes.node(0));
      between.before(
          "GET",
          () -> {
            throw wrong;
          });
      URI uri = URI.create(between.uri());
      try (RawRedis raw = RawRedis.connect(uri.getHost(), uri.getPort())) {
        assertThatThrownBy(() -> raw.call("GET", "a")).isNotSameAs(wrong);
      }

      assertThatThrownBy(between::close).hasCause(wrong);
      assertThat(between.commandsAbout("a")).containsExactly("GET a");
    }
  }
}
