package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A reply that has begun: it is read at one go by the thread that serves all nodes. */
class StalledReplyTest {
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(300);

  @Test
  void aReplyThatHasBegunIsWaitedForUntilNodeTimeoutThenTheConnectionEnds() throws Exception {
    RedlockOptions options =
        RedlockOptions.defaults()
            .nodeTimeout(NODE_TIMEOUT)
            .quorumTimeout(Duration.ofMinutes(1))
            .connectTimeout(Duration.ofSeconds(10));
    try (TestNodes servers = TestNodes.start(2);
        FaultProxy proxy = new FaultProxy(servers.node(0).host(), servers.node(0).port());
        Driver driver =
            Links.over(Links.Kind.OWN, List.of(proxy.uri(), servers.node(1).uri()), options)) {
      AtomicInteger ends = driver.connect(0);
      driver.connect(1);
      proxy.breakRepliesOff();

      long start = System.nanoTime();
      Asked brokenOff = Asked.of(driver.nodes(), NodeSet.all(2), () -> {}, "return 1");
      soon().until(() -> ends.get() == 1);
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      soon()
          .until(
              () ->
                  brokenOff.answers().size() == 2); // node 1's is read after node 0's was given up

      assertThat(waited).isGreaterThanOrEqualTo(NODE_TIMEOUT);
      assertThat(brokenOff.answers())
          .satisfiesOnlyOnce(answer -> assertThat(answer).isEqualTo(new Asked.Reply(1, 1L)))
          .satisfiesOnlyOnce(answer -> assertThat(answer).isInstanceOf(Asked.Failure.class));
    }
  }
}
