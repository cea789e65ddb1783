package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedAction;
import dev.holdfast.LockedTask;
import dev.holdfast.LossReason;
import dev.holdfast.tck.env.TckEnvironment;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Mistakes of backends that were written without a look at the kit, and that it missed at first.
 */
final class MissedFlaws {
  private MissedFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "executeLocked does not release when the task throws an error",
            Set.of("ACQ-13"),
            ReleasesAfterExceptionsOnly::new),
        Flaw.inManager(
            "a second close waits for the grace of the first", Set.of("CLOSE-3"), OneClose::new),
        Flaw.inLease(
            "the futures of a lease complete one after the other on one thread",
            Set.of("LOSS-5"),
            OneThread::new),
        Flaw.inManager(
            "tryExecuteLocked is empty if its task meets contention",
            Set.of("ACQ-18"),
            EmptyAtContention::new),
        Flaw.inManager(
            "a label is cut after 64 letters",
            Set.of("INSP-1"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    return asked
                        .ownerLabel()
                        .filter(label -> label.length() > 64)
                        .map(label -> asked.ownerLabel(label.substring(0, 64)))
                        .orElse(asked);
                  }
                }),
        Flaw.of(
            "the fencing counters of 500 names are kept",
            Set.of("ACQ-12"),
            MissedFlaws::forgettingCounters),
        Flaw.of(
            "a forced release resets the fencing counter",
            Set.of("ACQ-12"),
            MissedFlaws::resettingCounters),
        Flaw.inManager(
            "an interrupt right behind the grant leaves the lock",
            Set.of("WAIT-7"),
            AskedTwice::new),
        Flaw.inListener(
            "of reports of the load within 10 ms only the first one comes",
            Set.of("LISTEN-11"),
            SparingListener::new),
        Flaw.inLease(
            "requireHeld takes a loss for an expiry until onLoss() completes",
            Set.of("LOSS-9"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void requireHeld() {
                    try {
                      super.requireHeld();
                    } catch (LockLostException lost) {
                      throw new LockLostException(name(), onLoss().getNow(LossReason.EXPIRED));
                    }
                  }
                }),
        Flaw.of(
            "adoptAsync passes on the ttl of its request alone",
            Set.of("TRANSFER-6"),
            Parts.TRANSFERRING.withManagers(right -> new AdoptingPlainly(right.get()))),
        Flaw.inManager(
            "tryRunLocked does not release when the work throws an error",
            Set.of("ACQ-18"),
            KeepsAfterErrors::new));
  }

  private static final class AskedTwice extends PassingManager {
    AskedTwice(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      Lease lease = super.acquire(request);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      return lease;
    }
  }

  private static final class SparingListener extends PassingListener {
    private static final long APART_NANOS = 10_000_000;

    private final AtomicLong last = new AtomicLong(System.nanoTime() - APART_NANOS);

    SparingListener(LockListener right) {
      super(right);
    }

    @Override
    public void onLoad(int waiting, int inFlight) {
      long now = System.nanoTime();
      if (waiting + inFlight == 0 || now - last.getAndSet(now) > APART_NANOS) {
        super.onLoad(waiting, inFlight);
      }
    }
  }

  private static final class AdoptingPlainly extends PassingManager {
    AdoptingPlainly(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
      LockRequest plain = LockRequest.of(request.name(), request.ttl());
      return super.adoptAsync(text, request.ownerLabel().map(plain::ownerLabel).orElse(plain));
    }
  }

  private static final class ReleasesAfterExceptionsOnly extends PassingManager {
    ReleasesAfterExceptionsOnly(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new Kept(granted);
    }

    @Override
    public <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
        throws InterruptedException, X {
      return super.executeLocked(request, keptAfterErrors(task));
    }
  }

  private static final class KeepsAfterErrors extends PassingManager {
    KeepsAfterErrors(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new Kept(granted);
    }

    @Override
    public <X extends Exception> boolean tryRunLocked(LockRequest request, LockedAction<X> action)
        throws InterruptedException, X {
      LockedTask<Boolean, X> task =
          lease -> {
            action.run(lease);
            return true;
          };
      return super.tryRunLocked(request, keptAfterErrors(task)::call);
    }
  }

  /** Returns a task whose lease is not released if it throws an error. */
  private static <T, X extends Exception> LockedTask<T, X> keptAfterErrors(LockedTask<T, X> task) {
    return lease -> {
      try {
        return task.call(lease);
      } catch (Error e) {
        ((Kept) lease).isKept = true;
        throw e;
      }
    };
  }

  private static final class EmptyAtContention extends PassingManager {
    EmptyAtContention(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      try {
        return super.tryExecuteLocked(request, task);
      } catch (LockContendedException e) {
        return Optional.empty();
      }
    }
  }

  private static final class Kept extends PassingLease {
    private volatile boolean isKept;

    Kept(Lease right) {
      super(right);
    }

    @Override
    public void close() {
      if (!isKept) {
        super.close();
      }
    }
  }

  private static final class OneClose extends PassingManager {
    OneClose(LockManager right) {
      super(right);
    }

    @Override
    public synchronized void close() {
      super.close();
    }

    @Override
    public synchronized void close(Duration grace) {
      super.close(grace);
    }
  }

  private static final class OneThread extends PassingLease {
    private final Executor thread;

    OneThread(Lease right) {
      super(right);
      ThreadPoolExecutor one =
          new ThreadPoolExecutor(
              1, 1, 10, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), OneThread::daemon);
      one.allowCoreThreadTimeOut(true);
      thread = one;
    }

    private static Thread daemon(Runnable task) {
      Thread thread = new Thread(task, "one-for-all");
      thread.setDaemon(true);
      return thread;
    }

    @Override
    public CompletableFuture<Void> extendAsync(Duration ttl) {
      return onThread(super.extendAsync(ttl));
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
      return onThread(super.releaseAsync());
    }

    private <T> CompletableFuture<T> onThread(CompletionStage<T> stage) {
      CompletableFuture<T> user = new CompletableFuture<>();
      stage.whenCompleteAsync(
          (value, failure) -> {
            if (failure == null) {
              user.complete(value);
            } else {
              user.completeExceptionally(failure);
            }
          },
          thread);
      return user;
    }
  }

  private static TckEnvironment forgettingCounters() {
    return counting(
        Collections.synchronizedMap(
            new LinkedHashMap<>(16, 0.75f, true) {
              @Override
              protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
                return size() > 500;
              }
            }),
        false);
  }

  private static TckEnvironment resettingCounters() {
    return counting(new ConcurrentHashMap<>(), true);
  }

  /** Locks in memory with fencing tokens that are counted here. */
  private static TckEnvironment counting(Map<String, Long> counters, boolean resets) {
    String url = "memory:" + UUID.randomUUID();
    return options ->
        new PassingManager(LockManager.open(url, options)) {
          @Override
          Lease lease(Lease granted) {
            long token = counters.merge(granted.name(), 1L, Long::sum);
            return new PassingLease(granted) {
              @Override
              public OptionalLong fencingToken() {
                return OptionalLong.of(token);
              }
            };
          }

          @Override
          public boolean forceRelease(String name) {
            if (resets) {
              counters.remove(name);
            }
            return super.forceRelease(name);
          }
        };
  }
}
