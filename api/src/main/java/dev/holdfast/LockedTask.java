package dev.holdfast;

/**
 * Work that is done while holding a lock; see {@link LockManager#executeLocked}.
 *
 * @param <T> what it returns
 * @param <X> what it throws; {@link RuntimeException} when it throws nothing checked
 */
@FunctionalInterface
public interface LockedTask<T, X extends Exception> {
  /**
   * Does the work. It is interrupted when the lease is lost, and should check {@link
   * Lease#requireHeld()} before every effect that others can see.
   *
   * @param lease the lease that is held; the caller releases it
   * @return the result
   * @throws X what the work throws
   * @throws InterruptedException if the thread is interrupted
   */
  T call(Lease lease) throws X, InterruptedException;
}
