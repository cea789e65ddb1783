package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Several users get one and the same object, which each of them can change. */
final class AliasFlaws {
  private AliasFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "leases() fills and returns one list",
                Set.of("RES-1"),
                right ->
                    new PassingManager(right) {
                      private final List<HeldLock> leases = new CopyOnWriteArrayList<>();

                      @Override
                      public synchronized List<HeldLock> leases() {
                        leases.clear();
                        leases.addAll(super.leases());
                        return leases;
                      }
                    })
            .asVariation(),
        Flaw.inLease(
            "onLoss() is one future for all, which any of them can complete",
            Set.of("RES-1"),
            right ->
                new PassingLease(right) {
                  private final CompletableFuture<LossReason> lost =
                      right.onLoss().thenApply(reason -> reason);

                  @Override
                  public CompletableFuture<LossReason> onLoss() {
                    return new EachOnItsOwnThread(lost);
                  }
                }),
        Flaw.inLease(
                "releaseAsync() is one future for all",
                Set.of("RES-1"),
                right ->
                    new PassingLease(right) {
                      private @Nullable CompletableFuture<Boolean> released;

                      @Override
                      public synchronized CompletableFuture<Boolean> releaseAsync() {
                        CompletableFuture<Boolean> present = released;
                        if (present == null) {
                          present = super.releaseAsync();
                          released = present;
                        }
                        return present;
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "extensions that are asked for at the same time are one future",
                Set.of("RES-1"),
                right ->
                    new PassingLease(right) {
                      private CompletableFuture<Void> last =
                          CompletableFuture.completedFuture(null);

                      @Override
                      public synchronized CompletableFuture<Void> extendAsync(Duration ttl) {
                        if (last.isDone()) {
                          last = super.extendAsync(ttl);
                        }
                        return last;
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "who cancels a wait cancels those of all who wait for the same lock",
                Set.of("RES-1"),
                CancelsAll::new)
            .asVariation(),
        Flaw.inManager(
                "callers who are in one outage get one exception",
                Set.of("ERR-7", "RES-1"),
                OneException::new)
            .asVariation(),
        Flaw.inManager("all outages have one cause", Set.of("RES-1"), OneCause::new).breaksMore(),
        Flaw.of(
                "transferAsync() is one future for all",
                Set.of("RES-1"),
                Parts.TRANSFERRING.withManagers(
                    right -> PassingManager.withLeases(right.get(), OneTransfer::new)))
            .breaksMore());
  }

  /** Is the future itself, except for the threads of its callbacks, which are another rule's. */
  private static final class EachOnItsOwnThread extends CompletableFuture<LossReason> {
    private final CompletableFuture<LossReason> shared;

    EachOnItsOwnThread(CompletableFuture<LossReason> shared) {
      this.shared = shared;
      shared.whenCompleteAsync(
          (reason, failure) -> {
            if (failure == null) {
              super.complete(reason);
            } else {
              super.completeExceptionally(failure);
            }
          },
          EachOnItsOwnThread::start);
    }

    @Override
    public boolean complete(LossReason reason) {
      return shared.complete(reason);
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
      return shared.cancel(mayInterrupt);
    }

    @Override
    public void obtrudeValue(LossReason reason) {
      shared.obtrudeValue(reason);
      super.obtrudeValue(reason);
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task, "callback");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static final class CancelsAll extends PassingManager {
    private final Map<String, Queue<CompletableFuture<?>>> waiting = new ConcurrentHashMap<>();

    CancelsAll(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> future = super.tryAcquireAsync(request);
      if (request.waitAtMost().isPresent()) {
        Queue<CompletableFuture<?>> all =
            waiting.computeIfAbsent(request.name(), n -> new ConcurrentLinkedQueue<>());
        all.add(future);
        future.whenComplete(
            (lease, failure) -> {
              all.removeIf(other -> other == future);
              if (future.isCancelled()) {
                all.forEach(other -> other.cancel(true));
              }
            });
      }
      return future;
    }
  }

  private static final class OneCause extends PassingManager {
    private final Throwable cause = new IllegalStateException("no answer");

    OneCause(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        return super.tryAcquire(request);
      } catch (LockOutageException e) {
        throw new LockOutageException("no quorum answered", Map.of("node", cause), false);
      }
    }
  }

  private static final class OneTransfer extends PassingLease {
    private @Nullable CompletableFuture<String> transferred;

    OneTransfer(Lease right) {
      super(right);
    }

    @Override
    public synchronized CompletableFuture<String> transferAsync(Duration within) {
      CompletableFuture<String> present = transferred;
      if (present == null) {
        present = super.transferAsync(within);
        transferred = present;
      }
      return present;
    }
  }

  /** Remembers the last outage of each release, to tell it again. */
  private static final class OneException extends PassingManager {
    private final Map<String, LockOutageException> seen = new ConcurrentHashMap<>();

    OneException(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public boolean release() {
          try {
            return super.release();
          } catch (LockOutageException e) {
            throw seen.computeIfAbsent(token(), t -> e);
          }
        }
      };
    }
  }
}
