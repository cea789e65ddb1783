package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Flaws of leases that have ended. */
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
                  public CompletableFuture<Void> extendAsync(Duration ttl) {
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
        Flaw.inLease("extend and release take turns", Set.of("REL-5", "REL-11"), TakingTurns::new)
            .asVariation(),
        Flaw.inLease("a lease belongs to the thread that asked", Set.of("REL-12"), Bound::new));
  }

  private static final class TakingTurns extends PassingLease {
    TakingTurns(Lease right) {
      super(right);
    }

    @Override
    public synchronized void extend(Duration ttl) {
      super.extend(ttl);
    }

    @Override
    public synchronized boolean release() {
      return super.release();
    }

    @Override
    public synchronized void close() {
      super.close();
    }
  }

  /** Goes on while its release is on its way. */
  private static final class Answered extends PassingLease {
    private final AtomicInteger onTheirWay = new AtomicInteger();
    private volatile long end = System.nanoTime();

    Answered(Lease right) {
      super(right);
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || (onTheirWay.get() > 0 && System.nanoTime() - end < 0);
    }

    @Override
    public boolean release() {
      begin();
      try {
        return super.release();
      } finally {
        onTheirWay.decrementAndGet();
      }
    }

    @Override
    public void close() {
      begin();
      try {
        super.close();
      } finally {
        onTheirWay.decrementAndGet();
      }
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
      begin();
      return super.releaseAsync().whenComplete((released, failure) -> onTheirWay.decrementAndGet());
    }

    private void begin() {
      if (super.isHeld()) {
        end = System.nanoTime() + remaining().toNanos();
      }
      onTheirWay.incrementAndGet();
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
