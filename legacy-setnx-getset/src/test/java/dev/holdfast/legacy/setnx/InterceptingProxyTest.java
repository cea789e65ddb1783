package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import org.junit.jupiter.api.Test;

class InterceptingProxyTest {
  @Test
  void anActionThatFailsBeforeACommandFailsTheTestWhenItIsClosed() {
    AssertionError wrong = new AssertionError("not what the test expects");
    try (TestNodes nodes = TestNodes.start(1)) {
      InterceptingProxy proxy = new InterceptingProxy(nodes.node(0));
      proxy.before(
          "GET",
          () -> {
            throw wrong;
          });
      URI uri = URI.create(proxy.uri());
      try (RawRedis raw = RawRedis.connect(uri.getHost(), uri.getPort())) {
        assertThatThrownBy(() -> raw.call("GET", "a")).isNotSameAs(wrong);
      }

      assertThatThrownBy(proxy::close).hasCause(wrong);
      assertThat(proxy.commandsAbout("a")).containsExactly("GET a");
    }
  }
}
