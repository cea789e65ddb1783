package dev.holdfast.core;

import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A grant that cannot become a lease, because a timer or a clock fails, is released. */
@Timeout(20)
class TakingInTest {
  private static final LockRequest REQUEST =
      LockRequest.of("x", Duration.ofMinutes(1)).keepAliveUpTo(Duration.ofHours(1));

  private final Error fault = new OutOfMemoryError("a test's");
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final Faulty faulty = new Faulty();
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).clock(faulty).scheduler(faulty).build();

  @AfterEach
  void theLockIsFreeAndItsWaitQueueIsServed() throws Exception {
    assertThat(backend.holder("x")).isEmpty();
    Lease next = manager.acquire(REQUEST);
    assertThat(next.release()).isTrue();
    assertThat(Background.closing(manager).result()).isTrue();
    time.assertIdle();
  }

  @Test
  void grantIsReleasedIfItsTimerFails() {
    faulty.watch = fault;
    assertFails();
    faulty.watch = null;
  }

  @Test
  void afterATimerThatCannotBeSetTheNextLeaseIsWatchedForSleeps() throws Exception {
    faulty.watch = fault;
    assertFails();
    faulty.watch = null;
    Lease lease = manager.acquire(REQUEST);
    time.moveWall(Duration.ofHours(1));
    time.advance(Duration.ofSeconds(1));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void grantIsReleasedIfItsRenewalCannotBeScheduled() {
    faulty.schedule = fault;
    assertFails();
    faulty.schedule = null;
  }

  @Test
  void grantIsReleasedIfTheClockFails() {
    backend.beforeEachCall(() -> faulty.clock = fault);
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).isSameAs(fault);
    backend.beforeEachCall(() -> {});
    faulty.clock = null;
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void nextWaiterIsServedAfterAFailedGrant() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> second = manager.tryAcquireAsync(REQUEST.waitForever());
    backend.answerAtOnce(Op.ATTEMPT);
    faulty.once = true;
    faulty.watch = fault;
    backend.next().answer();
    assertThat(first).isCompletedExceptionally();
    assertThat(second.getNow(Optional.empty())).isPresent();
    assertThat(second.get().orElseThrow().release()).isTrue();
  }

  @Test
  void waiterThatCannotBeScheduledLeavesTheQueue() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    faulty.schedule = fault;
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitForever());
    faulty.schedule = null;
    assertThat(waiting).isCompletedExceptionally();
    assertThat(lease.release()).isTrue();
  }

  @Test
  void clockFailureBeforeAnAttemptIsThrown() {
    for (int call = 1; call <= 5; call++) {
      faulty.calls.set(call);
      assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).as("call " + call).isSameAs(fault);
    }
  }

  private void assertFails() {
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).isSameAs(fault);
    assertThat(failureOf(manager.tryAcquireAsync(REQUEST))).isSameAs(fault);
    assertThat(backend.calls(Op.RELEASE)).hasSize(2);
  }

  /** Time with a flaw that a test switches on. */
  private final class Faulty implements Clock, Scheduler {
    private volatile @Nullable Error clock;
    private volatile @Nullable Error schedule;
    private volatile @Nullable Error watch;
    private volatile boolean once;
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public long nanos() {
      throwIf(clock);
      if (calls.get() > 0 && calls.decrementAndGet() == 0) {
        throw fault;
      }
      return time.nanos();
    }

    @Override
    public long wallMicros() {
      return time.wallMicros();
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
      throwIf(schedule);
      return time.schedule(delayNanos, task);
    }

    @Override
    public Task watch(long delayNanos, Runnable task) {
      Error failure = watch;
      if (once) {
        watch = null;
      }
      throwIf(failure);
      return time.watch(delayNanos, task);
    }

    @Override
    public void fork(Runnable task) {
      time.fork(task);
    }

    @Override
    public void close() {}

    private void throwIf(@Nullable Error failure) {
      if (failure != null) {
        throw failure;
      }
    }
  }
}
