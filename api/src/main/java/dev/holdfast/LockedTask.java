package dev.holdfast;

/**
 * Work that is done while holding a lock, see {@link LockManager#executeLocked}.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the work throws, or {@link RuntimeException} if it throws
 *     no checked exception
 */
@FunctionalInterface
public interface LockedTask<T, X extends Exception> {
  /**
   * Does the work. It is interrupted when the lease is lost, and should check {@link
   * Lease#requireHeld()} before every effect that other processes can see.
   *
   * @param lease the lease that is held, and that the caller releases
   * @return the result
   * @throws X if the work throws it
   * @throws InterruptedException if the thread is interrupted
   */
  T call(Lease lease) throws X, InterruptedException;
}
