package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The reply to a renewal comes between two steps of a release. */
class RenewalDuringReleaseTest {
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);

  private boolean answersAtCancel;

  /** Answers the renewal when the release, which has begun by then, cancels the lease's timers. */
  private final class AnsweringScheduler implements Scheduler {
    @Override
    public Task schedule(long delayNanos, Runnable task) {
      Task timer = time.schedule(delayNanos, task);
      return () -> {
        timer.cancel();
        if (answersAtCancel) {
          answersAtCancel = false;
          backend.next().answer();
        }
      };
    }

    @Override
    public void fork(Runnable task) {
      time.fork(task);
    }

    @Override
    public void close() {
      time.close();
    }
  }

  @Test
  @Rule("LISTEN-7")
  @DisplayName("a renewal that is answered in the middle of a release is no outage")
  void aRenewalThatIsAnsweredInTheMiddleOfAReleaseIsNoOutage() throws Exception {
    List<LockListener.Renewal> renewals = new ArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
            renewals.add(outcome);
          }
        };
    LockManager manager =
        ScriptedBackend.manager(backend, time)
            .scheduler(new AnsweringScheduler())
            .listener(listener)
            .build();
    Lease lease =
        manager.acquire(
            LockRequest.of("x", Duration.ofSeconds(30)).keepAliveUpTo(Duration.ofHours(1)));
    backend.holdBack(Op.EXTEND);
    time.advance(Duration.ofSeconds(10));
    answersAtCancel = true;

    assertThat(lease.release()).isTrue();

    assertThat(answersAtCancel).isFalse();
    assertThat(renewals).isEmpty();
  }
}
