package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransactionUnderLockTest {
  private final List<String> ends = new ArrayList<>();

  private final TransactionUnderLock.Transaction transaction =
      new TransactionUnderLock.Transaction() {
        @Override
        public void commit() {
          ends.add("commit");
        }

        @Override
        public void rollback() {
          ends.add("rollback");
        }
      };

  @Test
  void workThatKeepsItsLockIsCommitted() throws InterruptedException {
    try (LockManager locks = LockManager.open("memory:")) {
      assertThat(
              TransactionUnderLock.ship(
                  locks,
                  transaction,
                  lease -> {
                    TransactionUnderLock.reserve("order-4711");
                    return "shipped";
                  }))
          .contains("shipped");
    }
    assertThat(ends).containsExactly("commit");
  }

  @Test
  void workThatLosesItsLockIsRolledBackThoughItEndsWell() {
    try (LockManager locks = LockManager.open("memory:")) {
      MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
      assertThatThrownBy(
              () ->
                  TransactionUnderLock.ship(
                      locks,
                      transaction,
                      lease -> {
                        store.steal("order-4711", Duration.ofSeconds(30));
                        assertThatThrownBy(() -> lease.extend(Duration.ofSeconds(30)))
                            .isInstanceOf(LockLostException.class);
                        return "shipped";
                      }))
          .isInstanceOf(LockLostException.class);
    }
    assertThat(ends).containsExactly("rollback");
  }

  @Test
  void workThatAnotherProcessDoesIsSkipped() throws InterruptedException {
    try (LockManager locks = LockManager.open("memory:skipped-transaction");
        LockManager other = LockManager.open("memory:skipped-transaction");
        Lease held = other.acquire("order-4711", Duration.ofSeconds(30))) {
      assertThat(TransactionUnderLock.ship(locks, transaction, lease -> "shipped")).isEmpty();
      assertThat(held.isHeld()).isTrue();
    }
    assertThat(ends).isEmpty();
  }

  @Test
  void aMethodThatNeedsTheLockRefusesCallersWithoutIt() {
    assertThat(Locks.current()).isEmpty();
    assertThatThrownBy(() -> TransactionUnderLock.reserve("order-4711"))
        .isInstanceOf(IllegalStateException.class);
  }
}
