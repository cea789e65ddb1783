package dev.holdfast.legacy.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The view of old clients when a lease in phase both is extended. */
class ExtendedStampTest {
  private static final String KEY = "lock.job";
  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final TestNodes nodes = TestNodes.start(1);
  private final TestNode server = nodes.node(0);
  private final String old = "setnx:" + server.uri();

  @Test
  @DisplayName("an old client stays out while the lease is renewed past its first stamp")
  void anOldClientStaysOut() throws IOException, InterruptedException {
    try (LockManager locks = both(old);
        OldClient client = new OldClient(server.host(), server.port(), KEY, 1)) {
      Lease lease =
          locks.acquire(LockRequest.of("job", Duration.ofMillis(1500)).keepAliveUpTo(LONG));
      long first = Long.parseLong(stamp());

      await()
          .atMost(LONG)
          .until(
              () -> {
                assertThat(client.lock()).isFalse();
                return System.currentTimeMillis() > (first + 1) * 1000 + 500;
              });

      assertThat(lease.release()).isTrue();
      assertThat(client.lock()).isTrue();
    }
  }

  @Test
  @DisplayName("a stamp that is too near its end is not rewritten, and the lease is lost")
  void aStampThatIsTooNearItsEndIsNotRewritten() throws InterruptedException {
    try (LockManager locks = both(old + "?clockMargin=20s")) {
      Lease lease = locks.acquire("job", Duration.ofSeconds(10));

      assertThatThrownBy(() -> lease.extend(LONG)).isInstanceOf(LockLostException.class);

      assertThat(lease.onLoss()).succeedsWithin(LONG).isEqualTo(LossReason.EXPIRED);
      assertThat(server.commandCounts()).doesNotContainKey("getset");
      await().untilAsserted(this::assertThatNoKeyIsLeft);
    }
  }

  @Test
  @DisplayName("a lease whose old lock is gone is lost, and leaves no key")
  void aLeaseWhoseOldLockIsGoneIsLost() throws InterruptedException {
    try (LockManager locks = both(old)) {
      Lease lease = locks.acquire("job", LONG);
      server.command("DEL", KEY);

      assertThatThrownBy(() -> lease.extend(LONG)).isInstanceOf(LockLostException.class);

      assertThat(lease.onLoss()).succeedsWithin(LONG).isEqualTo(LossReason.REMOVED);
      await().untilAsserted(this::assertThatNoKeyIsLeft);
    }
  }

  @Test
  @DisplayName("only a migration declares that the old lock can be extended")
  void onlyAMigrationDeclaresIt() {
    try (LockManager alone = LockManager.open(old);
        LockManager locks = both(old)) {
      assertThat(alone.capabilities()).doesNotContain(LockCapability.EXTENSION);
      assertThat(locks.capabilities())
          .contains(LockCapability.EXTENSION, LockCapability.KEEP_ALIVE)
          .doesNotContain(LockCapability.INSPECTION, LockCapability.OWNER_SAFE_RELEASE);
    }
  }

  private LockManager both(String from) {
    String to = "redlock:" + server.uri() + "?fencing=false";
    return LockManager.open("migrate:both", Map.of("from", from, "to", to));
  }

  private void assertThatNoKeyIsLeft() {
    assertThat(server.command("KEYS", "*"))
        .as("the mark of a new node")
        .isEqualTo(List.of("holdfast:guard"));
  }

  private String stamp() {
    return String.valueOf(server.command("GET", KEY));
  }
}
