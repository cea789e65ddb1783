package dev.holdfast;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/** Other views of a {@link LockManager}, and the leases under which the calling thread works. */
public final class Locks {
  /**
   * Keeps interrupts for a loss away from a thread, from {@link #postponeInterrupts()} until it is
   * closed.
   */
  @FunctionalInterface
  public interface InterruptShield extends AutoCloseable {
    /**
     * Ends the shield. A postponed interrupt comes now, unless another shield is open. Does nothing
     * the second time, after the end of the task in which it was opened, and on another thread.
     */
    @Override
    void close();
  }

  private Locks() {}

  /**
   * Shows one lock as a {@link Lock}, for code that is written against that interface.
   *
   * <p>The view is reentrant. Reentrancy belongs to this view and the calling thread, so a second
   * view of the same name does not enter. {@link Lock#unlock()} throws {@link LockLostException} if
   * the lease had been lost, and {@link IllegalMonitorStateException} if the thread does not hold
   * it. A release that no quorum answered throws {@link LockOutageException}, and the thread does
   * not hold the lock any more. Entering again after a loss also throws {@link LockLostException}.
   * {@link Lock#newCondition()} is not supported. All other exceptions are those of {@link
   * LockManager#acquire(LockRequest)}.
   *
   * @param manager the manager of the lock
   * @param request the name, the ttl, and how long the lock is kept alive: {@link
   *     LockRequest#keepAliveUpTo} is needed, because a {@link Lock} has no end of its own. A wait
   *     in the request is not used
   * @return a new view, safe for use by many threads
   * @throws LockConfigurationException if the request has no {@link LockRequest#keepAliveUpTo}
   */
  public static Lock asLock(LockManager manager, LockRequest request) {
    if (request.keepAliveUpTo().isEmpty()) {
      throw new LockConfigurationException(
          "a Lock view of '"
              + request.name()
              + "' needs keepAliveUpTo: a java.util.concurrent Lock has no end of its own");
    }
    return new LockView(manager, request);
  }

  /**
   * Does some work under a lease that the caller holds, and does not release the lease. For a part
   * of the work that must not go on without the lock, such as the part before a commit. When the
   * lease is lost, this thread is interrupted. {@link LockLostException}, which is unchecked, is
   * thrown once the task has ended, whatever the task returned or threw, so that a transaction
   * around this call rolls back. After the call the thread is not interrupted any more. A thread
   * has one interrupt status: after a loss, an interrupt by other code can be mistaken for that of
   * the loss, and is cleared with it. During the call the lease is {@link #current()}.
   *
   * @param <T> the type of the result
   * @param <X> the type of exception that the task throws
   * @param lease a lease that is held
   * @param task the work
   * @return the result of the task
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the task throws it
   * @throws LockLostException if the lease is lost, and the task is not run, or if it was lost
   *     before the task had ended, and the task's exception is the cause
   * @throws IllegalStateException if the lease was released before
   */
  public static <T, X extends Exception> T executeHolding(Lease lease, LockedTask<T, X> task)
      throws InterruptedException, X {
    return LockedCall.holding(null, lease, task);
  }

  /**
   * Does some work as {@link #executeHolding(Lease, LockedTask)} does, so that {@link
   * #requireCurrent(LockManager, String)} finds the lease.
   *
   * @param <T> the type of the result
   * @param <X> the type of exception that the task throws
   * @param manager the manager of the lease
   * @param lease a lease that is held
   * @param task the work
   * @return the result of the task
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the task throws it
   * @throws LockLostException if the lease is lost or was lost before the task had ended
   * @throws IllegalStateException if the lease was released before
   */
  public static <T, X extends Exception> T executeHolding(
      LockManager manager, Lease lease, LockedTask<T, X> task) throws InterruptedException, X {
    return LockedCall.holding(Objects.requireNonNull(manager, "manager"), lease, task);
  }

  /**
   * Does some work without a result under a lease that the caller holds, as {@link
   * #executeHolding(Lease, LockedTask)} does.
   *
   * @param <X> the type of exception that the work throws
   * @param lease a lease that is held
   * @param action the work
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the work throws it
   * @throws LockLostException if the lease is lost or was lost before the work had ended
   * @throws IllegalStateException if the lease was released before
   */
  public static <X extends Exception> void runHolding(Lease lease, LockedAction<X> action)
      throws InterruptedException, X {
    executeHolding(lease, LockedCall.task(action));
  }

  /**
   * Returns the lease under which this thread works: that of the innermost task of {@link
   * LockManager#executeLocked}, {@link #executeHolding} and the similar methods that this thread is
   * in. A thread that the task starts has no such lease, also if it is virtual.
   *
   * @return the lease, which may be lost or released by now, or empty outside of such tasks
   */
  public static Optional<Lease> current() {
    return BoundLease.current();
  }

  /**
   * Returns the lease of a name under which this thread works, for code that must be called under
   * that lock. Searches from the innermost task outward. Where several managers give out locks of
   * the same name, {@link #requireCurrent(LockManager, String)} tells them apart.
   *
   * @param name the name of the lock
   * @return the innermost lease of this name, which is held
   * @throws IllegalStateException if this thread works under no such lock, or released it
   * @throws LockLostException if the lease was lost
   */
  public static Lease requireCurrent(String name) {
    return held(BoundLease.find(null, Objects.requireNonNull(name, "name")));
  }

  /**
   * Returns the lease as {@link #requireCurrent(String)} does, if it is one of this manager.
   * Decorators of a manager that pass {@link LockManager#unwrap} on count as that manager.
   *
   * @param manager the manager that gave out the lock
   * @param name the name of the lock
   * @return the innermost lease of this name and manager, which is held
   * @throws IllegalStateException if this thread works under no such lock, or released it
   * @throws LockLostException if the lease was lost
   */
  public static Lease requireCurrent(LockManager manager, String name) {
    return held(
        BoundLease.find(
            Objects.requireNonNull(manager, "manager"), Objects.requireNonNull(name, "name")));
  }

  /**
   * Checks all leases under which this thread works: those of all tasks that it is in, from the
   * innermost outward. A lease that was released or transferred is not looked at. For the last step
   * before a commit of work that may stand inside several locks. Outside of such tasks nothing
   * happens.
   *
   * @throws LockLostException if one of the leases was lost
   */
  public static void requireNoneLost() {
    BoundLease.requireNoneLost();
  }

  /**
   * Postpones the interrupts for a loss of all tasks that this thread is in: a loss no longer
   * interrupts this thread, and an interrupt for an earlier loss is cleared. They come when the
   * shield is closed, or at the latest when the innermost task has ended, to the tasks that still
   * run then. A task that began later, inside the shield, is interrupted as ever. For work that
   * must not be interrupted half-way, such as a commit. Check the leases after it with {@link
   * #requireNoneLost()}. A task whose lease was lost still ends with {@link LockLostException}.
   *
   * @return the shield, or outside of such tasks one that does nothing
   */
  public static InterruptShield postponeInterrupts() {
    return BoundLease.shield();
  }

  private static Lease held(Lease lease) {
    lease.requireHeld();
    return lease;
  }
}
