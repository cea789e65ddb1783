package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FirstLockTest {
  @Test
  void byUrl() throws InterruptedException {
    try (TestNodes nodes = TestNodes.start(5);
        LockManager locks = LockManager.open("redlock:" + String.join(",", nodes.uris()))) {
      Lease lease = locks.acquire("first", Duration.ofSeconds(10));
      for (TestNode node : nodes.all()) {
        assertThat(node.command("GET", "first")).isEqualTo(lease.token());
      }
      assertThat(lease.release()).isTrue();
      for (TestNode node : nodes.all()) {
        assertThat(node.command("EXISTS", "first")).isEqualTo(0L);
      }
    }
  }
}
