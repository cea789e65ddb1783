package dev.holdfast.redlock.lettuce;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.testnodes.TestNodes;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A reply that was not understood: the order of the next replies is unknown from then on. */
class MisreadTest {
  @Test
  void unreadableReplyFailsTheCommandAndEndsTheConnection() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        Driver driver = Links.over(Links.Kind.YOUR_CLIENT, servers.uris())) {
      AtomicInteger ends = driver.connect(0);
      Asked number = Asked.of(driver.first(), "redis.setresp(3) return {double = 1.5}");
      assertThat(number.failure()).hasMessageContaining("set(double)");
      soon().until(() -> ends.get() == 1);
      assertThat(Asked.of(driver.first(), "return 1").failure()).hasMessage("not connected");

      driver.connect(0);
      assertThat(Asked.of(driver.first(), "return 1").reply()).isEqualTo(1L);
      assertThat(number.answers()).hasSize(1);
    }
  }

  @Test
  void aNilArrayIsNull() {
    ReplyOutput output = new ReplyOutput();
    output.multi(-1);
    output.complete(0);
    assertThat(output.get()).isNull();
  }
}
