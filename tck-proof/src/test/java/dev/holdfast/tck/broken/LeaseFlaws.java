package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Flaws in what a lease tells its holder. */
final class LeaseFlaws {
  private static final CompletableFuture<LossReason> NEVER = new CompletableFuture<>();

  private LeaseFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inLease(
                "what has expired was removed",
                Set.of("LOSS-4", "LOSS-9"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public CompletableFuture<LossReason> onLoss() {
                        return right.onLoss().thenApply(this::wrong);
                      }

                      @Override
                      public void requireHeld() {
                        try {
                          super.requireHeld();
                        } catch (LockLostException e) {
                          throw new LockLostException(name(), wrong(e.reason()));
                        }
                      }

                      private LossReason wrong(LossReason right) {
                        return right == LossReason.EXPIRED ? LossReason.REMOVED : right;
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "a minute remains, whatever happens",
                Set.of("ACQ-10", "EXT-8", "LOSS-9", "REL-11", "VAL-1", "VAL-3", "VAL-4"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public Duration remaining() {
                        return Duration.ofMinutes(1);
                      }
                    })
            .asVariation(),
        Flaw.inLease(
            "remaining() stays what it was",
            Set.of("EXT-10", "VAL-3"),
            right ->
                new PassingLease(right) {
                  private final Duration first = right.remaining();

                  @Override
                  public Duration remaining() {
                    return right.isHeld() ? first : Duration.ZERO;
                  }
                }),
        Flaw.inLease(
                "remaining() counts on after the release",
                Set.of("LOSS-9", "VAL-3"),
                right ->
                    new PassingLease(right) {
                      private final long end = System.nanoTime() + right.remaining().toNanos();
                      private volatile boolean released;

                      @Override
                      public Duration remaining() {
                        return released
                            ? Duration.ofNanos(Math.max(0, end - System.nanoTime()))
                            : super.remaining();
                      }

                      @Override
                      public boolean release() {
                        released = isHeld();
                        return super.release();
                      }
                    })
            .asVariation(),
        Flaw.inLease(
            "isHeld() waits to be told by a timer",
            Set.of("VAL-4"),
            right ->
                new PassingLease(right) {
                  private volatile boolean released;

                  @Override
                  public boolean isHeld() {
                    return !released && !((Future<?>) right.onLoss()).isDone();
                  }

                  @Override
                  public boolean release() {
                    released = true;
                    return super.release();
                  }

                  @Override
                  public CompletableFuture<Boolean> releaseAsync() {
                    released = true;
                    return super.releaseAsync();
                  }

                  @Override
                  public void close() {
                    released = true;
                    super.close();
                  }
                }),
        Flaw.inLease(
            "onLoss() never completes",
            Set.of("LOSS-1", "ACQ-13"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return NEVER.copy();
                  }
                }),
        Flaw.inLease(
            "onLoss() calls back twice",
            Set.of("LOSS-2"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return new Twice(right.onLoss());
                  }
                }),
        Flaw.inLease(
            "onLoss() is a third of a second late",
            Set.of("LOSS-6"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return right
                        .onLoss()
                        .thenCombineAsync(
                            CompletableFuture.completedFuture(""),
                            (reason, nothing) -> reason,
                            CompletableFuture.delayedExecutor(333, TimeUnit.MILLISECONDS));
                  }
                }),
        Flaw.inLease(
            "only the monotonic clock ends a lease for those who wait for its loss",
            Set.of("LOSS-7"),
            right ->
                new PassingLease(right) {
                  private final long end = System.nanoTime() + right.remaining().toNanos();

                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return right
                        .onLoss()
                        .thenCompose(
                            reason -> {
                              long left = end - System.nanoTime();
                              CompletableFuture<LossReason> notified = new CompletableFuture<>();
                              return reason == LossReason.EXPIRED && left > 0
                                  ? notified.completeOnTimeout(reason, left, TimeUnit.NANOSECONDS)
                                  : CompletableFuture.completedFuture(reason);
                            });
                  }
                }),
        inLossOfReleased(
            "onLoss() completes when a released lease would have ended",
            (lost, left) ->
                lost.completeOnTimeout(
                    LossReason.EXPIRED, Math.max(1, left.toMillis() - 30), TimeUnit.MILLISECONDS)),
        inLossOfReleased(
                "onLoss() completes with a release",
                (lost, left) -> lost.complete(LossReason.REMOVED))
            .asVariation(),
        Flaw.inLease(
            "whatever the reason, it is EXPIRED",
            Set.of("LOSS-4", "LOSS-9"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return right.onLoss().thenApply(reason -> LossReason.EXPIRED);
                  }

                  @Override
                  public void requireHeld() {
                    try {
                      super.requireHeld();
                    } catch (LockLostException e) {
                      throw new LockLostException(name(), LossReason.EXPIRED);
                    }
                  }
                }),
        Flaw.inLease(
            "what was taken away is held until its time is over",
            Set.of("LOSS-3"),
            right ->
                new PassingLease(right) {
                  private volatile long end = endOf(right);

                  @Override
                  public boolean isHeld() {
                    if (super.isHeld()) {
                      end = endOf(right);
                      return true;
                    }
                    return wasTakenAway(right) && System.nanoTime() - end < 0;
                  }
                }));
  }

  /**
   * Puts a mistake into what onLoss() reports of a lease that was released.
   *
   * @param ending is given the time that the lease had left
   */
  private static Flaw inLossOfReleased(
      String mistake, BiConsumer<CompletableFuture<LossReason>, Duration> ending) {
    return Flaw.inLease(
        mistake,
        Set.of("LOSS-2"),
        right ->
            new PassingLease(right) {
              private volatile @Nullable CompletableFuture<LossReason> late;

              @Override
              public boolean release() {
                Duration left = right.remaining();
                boolean held = super.release();
                if (!left.isZero()) {
                  CompletableFuture<LossReason> lost = new CompletableFuture<>();
                  late = lost;
                  ending.accept(lost, left);
                }
                return held;
              }

              @Override
              public CompletableFuture<LossReason> onLoss() {
                CompletableFuture<LossReason> lost = late;
                return lost == null ? super.onLoss() : lost.copy();
              }
            });
  }

  private static long endOf(Lease lease) {
    return System.nanoTime() + lease.remaining().toNanos();
  }

  private static boolean wasTakenAway(Lease lease) {
    try {
      lease.requireHeld();
      return false;
    } catch (LockLostException lost) {
      return lost.reason() == LossReason.TAKEN || lost.reason() == LossReason.REMOVED;
    } catch (IllegalStateException released) {
      return false;
    }
  }

  /** Runs each callback two times. */
  private static final class Twice extends CompletableFuture<LossReason> {
    Twice(CompletableFuture<LossReason> once) {
      once.thenAccept(this::complete);
    }

    @Override
    public CompletableFuture<Void> thenAccept(Consumer<? super LossReason> action) {
      super.thenAccept(action);
      return super.thenAccept(action);
    }

    @Override
    public CompletableFuture<Void> thenRun(Runnable action) {
      super.thenRun(action);
      return super.thenRun(action);
    }

    @Override
    public CompletableFuture<LossReason> whenComplete(
        BiConsumer<? super LossReason, ? super Throwable> action) {
      super.whenComplete(action);
      return super.whenComplete(action);
    }
  }
}
