package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What a lease says that is over, and to whom. */
final class EndedFlaws {
  private EndedFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inLease(
            "extendAsync of what is lost never completes",
            Set.of("LOSS-9"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletionStage<Void> extendAsync(Duration ttl) {
                    return isHeld() ? super.extendAsync(ttl) : new CompletableFuture<>();
                  }
                }),
        Flaw.inLease(
                "requireHeld takes a release for a loss",
                Set.of("LOSS-9"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void requireHeld() {
                        try {
                          super.requireHeld();
                        } catch (LockLostException lost) {
                          throw lost;
                        } catch (IllegalStateException released) {
                          throw new LockLostException(name(), LossReason.EXPIRED, released);
                        }
                      }
                    })
            .asVariation(),
        Flaw.inLease(
            "a lease is held until its release is answered", Set.of("REL-11"), Answered::new),
        Flaw.inLease("a lease belongs to the thread that asked", Set.of("REL-12"), Bound::new));
  }

  /** Goes on while its release is on its way. */
  private static final class Answered extends PassingLease {
    private volatile @Nullable CompletableFuture<Boolean> release;
    private volatile long end;

    Answered(Lease right) {
      super(right);
    }

    private boolean isOnItsWay() {
      CompletableFuture<Boolean> begun = release;
      return begun != null && !begun.isDone() && System.nanoTime() - end < 0;
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || isOnItsWay();
    }

    @Override
    public CompletionStage<Boolean> releaseAsync() {
      boolean held = super.isHeld();
      end = System.nanoTime() + super.remaining().toNanos();
      CompletionStage<Boolean> begun = super.releaseAsync();
      if (held) {
        release = begun.toCompletableFuture();
      }
      return begun;
    }
  }

  /** Serves one thread. */
  private static final class Bound extends PassingLease {
    private final Thread owner = Thread.currentThread();

    Bound(Lease right) {
      super(right);
    }

    @Override
    public void extend(Duration ttl) {
      if (Thread.currentThread() != owner) {
        throw new IllegalMonitorStateException("another thread asked for this lease");
      }
      super.extend(ttl);
    }
  }
}
