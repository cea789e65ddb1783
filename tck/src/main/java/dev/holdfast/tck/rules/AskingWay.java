package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/** The ways in which a user asks for a lock that is free. */
enum AskingWay {
  TRY_ACQUIRE(at(Asking.TRY_ACQUIRE)),
  TRY_ACQUIRE_WITH_A_WAIT(waiting(Asking.TRY_ACQUIRE)),
  ACQUIRE(at(Asking.ACQUIRE)),
  ACQUIRE_WITH_A_WAIT(waiting(Asking.ACQUIRE)),
  TRY_ACQUIRE_ASYNC(at(Asking.TRY_ACQUIRE_ASYNC)),
  TRY_ACQUIRE_ASYNC_WITH_A_WAIT(waiting(Asking.TRY_ACQUIRE_ASYNC)),
  CALL_LOCKED(
      (locks, request, holder) ->
          locks.executeLocked(
              request,
              lease -> {
                holder.holds(Optional.of(lease));
                return "";
              })),
  RUN_LOCKED(
      (locks, request, holder) ->
          locks.runLocked(request, lease -> holder.holds(Optional.of(lease)))),
  TRY_EXECUTE_LOCKED(
      (locks, request, holder) -> {
        Optional<String> done =
            locks.tryExecuteLocked(
                request,
                lease -> {
                  holder.holds(Optional.of(lease));
                  return "";
                });
        if (done.isEmpty()) {
          throw new AssertionError("the lock was free");
        }
      }),
  TRY_RUN_LOCKED(
      (locks, request, holder) -> {
        if (!locks.tryRunLocked(request, lease -> holder.holds(Optional.of(lease)))) {
          throw new AssertionError("the lock was free");
        }
      }),
  LOCK(
      view(
          lock -> {
            lock.lock();
            return true;
          })),
  LOCK_INTERRUPTIBLY(
      view(
          lock -> {
            lock.lockInterruptibly();
            return true;
          })),
  TRY_LOCK(view(Lock::tryLock)),
  TRY_LOCK_WITH_A_WAIT(view(AskingWay::tryLockWithAWait));

  /** Longer than a machine stalls. */
  private static final Duration WAIT = Duration.ofSeconds(5);

  /** Work that is done while a lock is held. */
  interface Holder {
    /**
     * Does the work. Called once the lock is held, which is released when this returns.
     *
     * @param lease the lease, or empty for a view, which shows none
     */
    void holds(Optional<Lease> lease) throws Exception;
  }

  @SuppressWarnings("ImmutableEnumChecker") // a function without state
  private final Way way;

  /** Acquires a lock, lets a holder work, and releases the lock. */
  @FunctionalInterface
  private interface Way {
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception;
  }

  /** Locks a view, and returns whether it is locked. */
  @FunctionalInterface
  private interface Locking {
    boolean by(Lock lock) throws InterruptedException;
  }

  AskingWay(Way way) {
    this.way = way;
  }

  /** Acquires the lock, lets the holder work, and releases the lock. */
  void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
    way.hold(locks, request, holder);
  }

  /** Returns whether the user gets a view such as a {@code Lock} instead of a lease. */
  boolean isView() {
    return compareTo(LOCK) >= 0;
  }

  /** Returns the ways that show a lease and need no capability. */
  static List<AskingWay> withLeases() {
    return Stream.of(values()).filter(way -> !way.isView()).toList();
  }

  /** Returns the ways that run a task under the lock. */
  static List<AskingWay> ofTasks() {
    return List.of(CALL_LOCKED, RUN_LOCKED, TRY_EXECUTE_LOCKED, TRY_RUN_LOCKED);
  }

  private static Way at(Asking asking) {
    return (locks, request, holder) -> {
      try (Lease lease = asking.ask(locks, request).orElseThrow()) {
        holder.holds(Optional.of(lease));
      }
    };
  }

  private static Way waiting(Asking asking) {
    return (locks, request, holder) -> at(asking).hold(locks, request.waitAtMost(WAIT), holder);
  }

  private static Way view(Locking locking) {
    return (locks, request, holder) -> {
      Lock lock = Locks.asLock(locks, request);
      if (locking.by(lock)) {
        try {
          holder.holds(Optional.empty());
        } finally {
          lock.unlock();
        }
      }
    };
  }

  private static boolean tryLockWithAWait(Lock lock) throws InterruptedException {
    return lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS);
  }
}
