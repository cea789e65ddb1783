package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HeldLeaseTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final LockManager locks = LockManager.open("memory:");

  @AfterEach
  void close() {
    locks.close();
  }

  @Test
  void theEndWaitsForTheLastCommit() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      HeldLease held = new HeldLease(locks, lease);
      held.beginCommit();
      held.beginCommit();
      CompletableFuture<Void> end = held.end();
      held.endCommit();
      assertThat(end).isNotDone();
      held.endCommit();
      assertThat(end).isDone();
    }
  }

  @Test
  void noCommitBeginsAfterTheEnd() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      HeldLease held = new HeldLease(locks, lease);
      held.beginCommit();
      held.endCommit();
      assertThat(held.end()).isDone();
      assertThatThrownBy(held::beginCommit)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("'order-1' was cancelled");
    }
  }

  @Test
  void noCommitBeginsAfterALoss() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      locks.unwrap(MemoryStore.class).orElseThrow().steal("order-1", TTL);
      assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
      HeldLease held = new HeldLease(locks, lease);
      assertThatThrownBy(held::beginCommit).isInstanceOf(LockLostException.class);
      assertThat(held.end()).isDone();
    }
  }
}
