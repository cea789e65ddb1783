package dev.holdfast;

import java.util.concurrent.locks.Lock;

/** Other views of a {@link LockManager}. */
public final class Locks {
  private Locks() {}

  /**
   * Shows one lock as a {@link Lock}, for code that is written against that interface.
   *
   * <p>It is reentrant: reentrancy belongs to this view and the calling thread, so a second view of
   * the same name does not enter. {@link Lock#unlock()} throws {@link LockLostException} if the
   * lease had been lost, and {@link IllegalMonitorStateException} if the thread does not hold it. A
   * release that no quorum answered throws {@link LockOutageException}; the thread does not hold it
   * any more anyway. Entering again while the lease is lost throws {@link LockLostException} too.
   * {@link Lock#newCondition()} is not supported. What {@link Lock} has no word for is thrown as by
   * {@link LockManager#acquire(LockRequest)}.
   *
   * @param manager gives out the lock
   * @param request the name, the ttl, and how long the lock is kept alive: {@link
   *     LockRequest#keepAliveUpTo} is needed, because a {@link Lock} has no end of its own; what it
   *     says of waiting is not used
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
}
