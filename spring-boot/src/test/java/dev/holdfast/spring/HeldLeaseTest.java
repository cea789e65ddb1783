package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class HeldLeaseTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @AutoClose private final LockManager locks = LockManager.open("memory:");

  @Test
  void theEndWaitsForTheLastTransaction() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      HeldLease held = new HeldLease(locks, lease);
      held.beginTransaction();
      held.beginTransaction();
      CompletableFuture<Void> end = held.end().toFuture();
      held.endTransaction();
      assertThat(end).isNotDone();
      held.endTransaction();
      assertThat(end).isDone();
    }
  }

  @Test
  void noTransactionBeginsAfterTheEnd() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      HeldLease held = new HeldLease(locks, lease);
      held.beginTransaction();
      held.endTransaction();
      assertThat(held.end().toFuture()).isDone();
      assertThatThrownBy(held::beginTransaction)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("'order-1' was cancelled");
    }
  }

  @Test
  void noTransactionBeginsAfterALoss() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      locks.unwrap(MemoryStore.class).orElseThrow().steal("order-1", TTL);
      assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
      HeldLease held = new HeldLease(locks, lease);
      assertThatThrownBy(held::beginTransaction).isInstanceOf(LockLostException.class);
      assertThat(held.end().toFuture()).isDone();
    }
  }

  @Test
  void theEndWaitsForATransactionThatNeverEndsUntilTheLeaseIsLost() throws Exception {
    try (Lease lease = locks.acquire("order-1", TTL)) {
      HeldLease held = new HeldLease(locks, lease);
      held.beginTransaction();
      CompletableFuture<Void> end = held.end().toFuture();
      assertThat(end).isNotDone();
      locks.unwrap(MemoryStore.class).orElseThrow().steal("order-1", TTL);
      assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
      assertThat(end).succeedsWithin(Eventually.LIMIT);
    }
  }
}
