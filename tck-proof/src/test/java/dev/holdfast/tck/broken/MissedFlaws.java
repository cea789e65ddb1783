package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
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
            "a second close waits for the grace of the first",
            Set.of("CLOSE-2", "CLOSE-3"),
            OneClose::new),
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
            MissedFlaws::resettingCounters));
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
      return super.executeLocked(
          request,
          lease -> {
            try {
              return task.call(lease);
            } catch (Error e) {
              ((Kept) lease).isKept = true;
              throw e;
            }
          });
    }
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
