package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Losses with real threads and time, and a backend that blocks its callers against its contract.
 */
class LossNoticeTest {
  private static final Duration TTL = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofMinutes(1);

  private final ScriptedBackend backend = new ScriptedBackend(Clock.system());
  private final LockManager manager = LockManagerBuilder.over(backend).build();
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);

  @AfterEach
  void close() {
    free.countDown();
    manager.close();
  }

  @Test
  @Rule("LOSS-6")
  @DisplayName("losses are reported while the renewing thread is stuck")
  void lossesAreReportedWhileTheRenewingThreadIsStuck() throws Exception {
    Lease renewed = manager.acquire(LockRequest.of("renewed", TTL).keepAliveUpTo(LONG));
    Lease other = manager.acquire(LockRequest.of("other", TTL));
    backend.beforeEachCall(this::blockTimer);

    assertThat(lossOf(renewed).get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.UNREACHABLE);
    assertThat(lossOf(other).get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
    assertThat(stuck.getCount()).as("the thread that renews is stuck").isZero();
  }

  private static CompletableFuture<LossReason> lossOf(Lease lease) {
    return lease.onLoss();
  }

  private void blockTimer() {
    if (Thread.currentThread().getName().equals("holdfast-timer")) {
      block();
    }
  }

  private void block() {
    stuck.countDown();
    boolean interrupted = false;
    while (free.getCount() > 0) {
      try {
        free.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
