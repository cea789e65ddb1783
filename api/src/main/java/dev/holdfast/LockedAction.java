package dev.holdfast;

/**
 * Work without a result that is done while holding a lock; see {@link LockManager#runLocked}.
 *
 * @param <X> the type of exception that the work throws; {@link RuntimeException} when it throws
 *     nothing checked
 */
@FunctionalInterface
public interface LockedAction<X extends Exception> {
  /**
   * Does the work. It is interrupted when the lease is lost, and should check {@link
   * Lease#requireHeld()} before every effect that others can see.
   *
   * @param lease the lease that is held; the caller releases it
   * @throws X what the work throws
   * @throws InterruptedException if the thread is interrupted
   */
  void run(Lease lease) throws X, InterruptedException;
}
