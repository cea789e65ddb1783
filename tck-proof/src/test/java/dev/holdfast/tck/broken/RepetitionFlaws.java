package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Mistakes that show when something is done once more, soon, later or very often. */
final class RepetitionFlaws {
  private RepetitionFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "requests are counted in a number of 11 bits", Set.of("ACQ-24"), Counting::new)
            .breaksUnderLoad("WAIT-14"),
        Flaw.inLease(
            "an extension within 20 ms of another one to the same ttl asks no node",
            Set.of("EXT-5"),
            Impatient::new),
        Flaw.inManager(
            "listeners are referred to weakly",
            Set.of("LISTEN-1"),
            right ->
                new PassingManager(right) {
                  @Override
                  public LockListener.Registration addListener(LockListener added) {
                    return super.addListener(new Weak(added));
                  }
                }),
        Flaw.inListener(
                "a renewal is reported 25 ms later", Set.of("LISTEN-3"), LateOnRenewals::new)
            .asVariation(),
        Flaw.inManager(
                "leases() shows one lease of each name",
                Set.of("NODES-3"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public List<HeldLock> leases() {
                        List<HeldLock> shown = new ArrayList<>(super.leases());
                        Set<String> names = new HashSet<>();
                        shown.removeIf(lease -> !names.add(lease.name()));
                        return shown;
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a forced release trims the end of its name",
                Set.of("INSP-2"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean forceRelease(String name) {
                        return super.forceRelease(name.stripTrailing());
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "an inspection that ends in an outage is made once more",
            Set.of("FAULT-9"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Optional<LockStatus> inspect(String name) {
                    try {
                      return super.inspect(name);
                    } catch (LockOutageException e) {
                      return super.inspect(name);
                    }
                  }
                }),
        Flaw.inManager(
                "a forced release looks for the holder first",
                Set.of("FAULT-2"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean forceRelease(String name) {
                        super.inspect(name);
                        return super.forceRelease(name);
                      }
                    })
            .asVariation(),
        Flaw.of(
            "a thread is started before the options are read",
            Set.of("CLOSE-4"),
            Parts.RIGHT.withManagers(
                right -> {
                  Thread early = new Thread(LockSupport::park, "early");
                  early.setDaemon(true);
                  early.start();
                  LockManager opened = right.get();
                  early.interrupt();
                  return opened;
                })));
  }

  private static final class Counting extends PassingManager {
    private static final int PERIOD = 1 << 11;

    private final AtomicInteger requests = new AtomicInteger();

    Counting(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return requests.incrementAndGet() % PERIOD == 0
          ? CompletableFuture.failedFuture(
              new LockOutageException("the connections ended", Map.of(), false))
          : super.tryAcquireAsync(request);
    }
  }

  private static final class Impatient extends PassingLease {
    private static final long SOON_NANOS = Duration.ofMillis(20).toNanos();

    private Duration last = Duration.ZERO;
    private long extendedAt;

    Impatient(Lease right) {
      super(right);
    }

    @Override
    public synchronized void extend(Duration ttl) {
      if (!ttl.equals(last) || System.nanoTime() - extendedAt > SOON_NANOS) {
        super.extend(ttl);
        last = ttl;
        extendedAt = System.nanoTime();
      }
    }
  }

  /** Passes grants on for as long as others refer to the listener. */
  private static final class Weak implements LockListener {
    private final WeakReference<LockListener> listener;

    Weak(LockListener listener) {
      this.listener = new WeakReference<>(listener);
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      LockListener there = listener.get();
      if (there != null) {
        there.onGranted(name, leaseId, waited, votes, margin);
      }
    }
  }

  private static final class LateOnRenewals extends PassingListener {
    LateOnRenewals(LockListener right) {
      super(right);
    }

    @Override
    public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
      CompletableFuture.delayedExecutor(25, TimeUnit.MILLISECONDS, NewThreads.EXECUTOR)
          .execute(() -> super.onRenewal(name, leaseId, outcome, took));
    }
  }
}
