package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LossReason;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** How an application tests its own use of locks: no server, and loss on demand. */
class NightlyReportTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @Test
  void theReportIsSkippedWhileAnotherProcessWritesIt() throws InterruptedException {
    try (LockManager ours = LockManager.open("memory:skipped");
        LockManager theirs = LockManager.open("memory:skipped");
        Lease held = theirs.acquire("nightly-report", TTL)) {
      assertThat(held.isHeld()).isTrue();
      assertThat(ours.tryAcquire("nightly-report", TTL)).isEmpty();
    }
  }

  @Test
  void aJobWhoseLockIsStolenStops() throws Exception {
    try (LockManager locks = LockManager.open("memory:")) {
      MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
      CountDownLatch begun = new CountDownLatch(1);
      CompletableFuture<String> job = new CompletableFuture<>();
      Thread worker =
          new Thread(
              () -> {
                try {
                  job.complete(LongJob.run(locks, Integer.MAX_VALUE, begun));
                } catch (InterruptedException e) {
                  job.completeExceptionally(e);
                }
              });
      worker.start();
      begun.await();

      store.steal("migration", TTL);

      assertThat(job.get()).isEqualTo("stopped: the lock was lost, " + LossReason.TAKEN);
      worker.join();
    }
  }
}
