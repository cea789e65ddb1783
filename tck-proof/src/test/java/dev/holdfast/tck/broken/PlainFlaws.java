package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
import dev.holdfast.core.Clock;
import dev.holdfast.tck.broken.Request.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Mistakes for the tests that finer ones fail by other rules alone. See {@link CrudeFlaws}. */
final class PlainFlaws {
  private static final Duration VERY_LONG = Duration.ofDays(300);

  /** Less than a slow fake node takes, which is 120 ms. */
  private static final Duration HASTE = Duration.ofMillis(80);

  private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();
  private static final long LONG_NANOS = Duration.ofSeconds(6).toNanos();

  private PlainFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
                "a release looks at the lock, and removes it a millisecond later",
                Set.of("REL-1"),
                RemovesLater::new)
            .breaksMore(),
        Flaw.inRedlock(
                "a grant takes its time after its validity was looked at",
                Set.of("VAL-5"),
                GrantsLate::new)
            .breaksMore(),
        Flaw.inRedlock(
                "a quorum has 80 ms to answer",
                Set.of("FAULT-8"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, Timeouts.both(HASTE)))
            .breaksMore(),
        Flaw.inLease(
                "a lease that cannot be transferred has a text",
                Set.of("CAP-2"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public String transfer(Duration within) {
                        return "holdfast1-AAAA";
                      }
                    })
            .breaksMore(),
        Flaw.inLease(
                "releaseAsync() begins a little later",
                Set.of("REL-2"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public CompletableFuture<Boolean> releaseAsync() {
                        return later().thenCompose(now -> super.releaseAsync());
                      }
                    })
            .breaksMore(),
        Flaw.inManager(
                "executeLocked prefers what its task throws to a loss",
                Set.of("ACQ-13"),
                PrefersTheTask::new)
            .breaksMore(),
        Flaw.inManager(
                "a call for a future takes 20 ms",
                Set.of("RES-3"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public CompletableFuture<Optional<Lease>> tryAcquireAsync(
                          LockRequest request) {
                        LockSupport.parkNanos(PAUSE_NANOS);
                        return super.tryAcquireAsync(request);
                      }
                    })
            .breaksMore(),
        Flaw.of(
                "errors about options name none",
                Set.of("ERR-4"),
                Parts.RIGHT.withManagers(
                    right -> {
                      try {
                        return right.get();
                      } catch (LockConfigurationException e) {
                        throw new LockConfigurationException("an option is wrong");
                      }
                    }))
            .breaksMore(),
        Flaw.inManager(
                "names that look like keys of the backend are taken",
                Set.of("ACQ-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        return request.name().startsWith("holdfast:")
                            ? Optional.empty()
                            : super.tryAcquire(request);
                      }
                    })
            .breaksMore(),
        Flaw.inManager(
                "ping is true",
                Set.of("NODES-4"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean ping(Duration timeout) {
                        return true;
                      }
                    })
            .breaksMore(),
        Flaw.inManager(
                "a manager that had a waiter is closed slowly",
                Set.of("CLOSE-4"),
                ClosesSlowly::new)
            .breaksMore(),
        Flaw.inManager(
                "who waits for very long does not try",
                Set.of("WAIT-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        return request
                                .waitAtMost()
                                .filter(w -> w.compareTo(VERY_LONG) > 0)
                                .isPresent()
                            ? Optional.empty()
                            : super.tryAcquire(request);
                      }
                    })
            .breaksMore(),
        Flaw.inManager(
                "a wait of zero has no end",
                Set.of("WAIT-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        return super.acquire(
                            request.waitAtMost().filter(Duration::isZero).isPresent()
                                ? request.waitForever()
                                : request);
                      }
                    })
            .breaksMore());
  }

  private static CompletableFuture<Void> later() {
    Executor executor = CompletableFuture.delayedExecutor(PAUSE_NANOS, TimeUnit.NANOSECONDS);
    return CompletableFuture.runAsync(() -> {}, executor);
  }

  private static final class RemovesLater extends SmallRedlock {
    RemovesLater(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Released> release(Release release) {
      Held held = (Held) release.grant();
      Request look = Request.extend(held.name(), held.token(), Duration.ofNanos(1));
      return ask(look, Votes::isComplete)
          .thenCompose(
              votes ->
                  votes.count(Answer.MINE) == 0
                      ? super.release(release)
                      : CompletableFuture.runAsync(
                              () -> {}, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS))
                          .thenCompose(now -> ask(Request.remove(held.name()), Votes::isComplete))
                          .thenApply(done -> new Released(Optional.empty(), Released.UNKNOWN)));
    }
  }

  private static final class GrantsLate extends SmallRedlock {
    GrantsLate(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      return super.attempt(attempt).thenCompose(outcome -> later().thenApply(now -> outcome));
    }
  }

  private static final class PrefersTheTask extends PassingManager {
    PrefersTheTask(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
        throws InterruptedException, X {
      try {
        return super.executeLocked(request, task);
      } catch (LockLostException lost) {
        if (lost.getCause() instanceof RuntimeException ofTask) {
          throw ofTask;
        }
        throw lost;
      }
    }
  }

  private static final class ClosesSlowly extends PassingManager {
    private volatile boolean hadWaiter;

    ClosesSlowly(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      hadWaiter |= request.waitAtMost().isPresent();
      return super.tryAcquireAsync(request);
    }

    @Override
    public void close() {
      super.close();
      if (hadWaiter) {
        LockSupport.parkNanos(LONG_NANOS);
      }
    }
  }
}
