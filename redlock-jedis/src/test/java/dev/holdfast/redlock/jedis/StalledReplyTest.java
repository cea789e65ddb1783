package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A reply that has begun and does not go on: one thread reads those of all nodes. */
class StalledReplyTest {
  @Test
  void aReplyThatHasBegunDelaysNoOtherNode() throws Exception {
    try (TestNodes servers = TestNodes.start(2);
        FaultProxy proxy = new FaultProxy(servers.node(0).host(), servers.node(0).port());
        Driver driver = Links.over(Links.Kind.OWN, List.of(proxy.uri(), servers.node(1).uri()))) {
      AtomicInteger ends = driver.connect(0);
      driver.connect(1);
      proxy.breakRepliesOff(true);

      Asked brokenOff = Asked.of(driver.first(), NodeSet.all(2), () -> {}, "return 1");
      soon().until(() -> brokenOff.answers().size() == 1);
      assertThat(brokenOff.answers()).containsExactly(new Asked.Reply(1, 1L));
      for (int i = 0; i < 100; i++) {
        assertThat(Asked.of(driver.first(), NodeSet.of(1), () -> {}, "return 2").reply())
            .isEqualTo(2L);
      }

      driver.first().disconnect(0);
      soon().until(() -> ends.get() == 1);
      assertThat(brokenOff.answers()).hasSize(2).last().isInstanceOf(Asked.Failure.class);
    }
  }
}
