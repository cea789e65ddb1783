package dev.holdfast;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The right of a holder to a lock, for a limited time. It ends by {@link #release()}, by {@link
 * #transfer} or by a loss, and never comes back afterwards.
 *
 * <p>{@link #isHeld()} and {@link #remaining()} go by the lease's own clock. They need no message
 * and no thread, and are right even if every other thread is stuck. Only the storage that an effect
 * changes can refuse a holder that comes late: pass {@link #fencingToken()} there.
 *
 * <p>Safe for use by many threads. Keep the lease reachable while it is needed: a lease that the
 * application can no longer reach is not renewed any more, and a warning is logged.
 */
public interface Lease extends AutoCloseable {
  /**
   * Returns the name of the lock.
   *
   * @return the name of the request, unchanged
   */
  String name();

  /**
   * Returns the token of this grant: the value that the backend keeps for the lock, different for
   * each attempt.
   *
   * @return the token
   */
  String token();

  /**
   * Returns a number that strictly increases from grant to grant of one name. Pass it to the
   * resource that the lock protects, which refuses each number that is smaller than the largest
   * that it has seen.
   *
   * @return the fencing token, or empty if the backend does not declare {@link
   *     LockCapability#FENCING_TOKEN}
   */
  OptionalLong fencingToken();

  /**
   * Returns the validity that is left if nothing renews the lease: the time that was granted, less
   * the elapsed time and the drift of clocks. The elapsed time is the larger of monotonic and
   * wall-clock time, because a machine that slept has spent its validity.
   *
   * @return the time left, or {@link Duration#ZERO} if the lease is lost, released or transferred
   */
  Duration remaining();

  /**
   * Returns whether the lease is held, exactly, by its own clock.
   *
   * @return true if the lease is neither released nor transferred nor lost, and its validity is not
   *     over
   */
  boolean isHeld();

  /**
   * Checks that the lease is held. Call it before every effect that other processes can see.
   *
   * @throws LockLostException if it was lost
   * @throws IllegalStateException if it was released
   */
  void requireHeld();

  /**
   * Extends the lease so that at least {@code ttl} (less the allowance for drift) is left. An
   * extension never revives a lost lease, never shortens a lease, and never goes past {@link
   * LockRequest#keepAliveUpTo}.
   *
   * @param ttl above the manager's allowance for drift, up to its {@code maxTtl}
   * @throws LockLostException if the lease was lost, or is found to be
   * @throws LockOutageException if no quorum answered. The lease is still held for the validity
   *     that is left
   * @throws LockConfigurationException if the ttl is out of range, or the backend does not declare
   *     {@link LockCapability#EXTENSION}
   * @throws IllegalStateException if it was released
   */
  void extend(Duration ttl);

  /**
   * Extends as {@link #extend} does, without blocking.
   *
   * @param ttl as for {@link #extend}
   * @return completes on the manager's callback executor, with an exception as {@link #extend}
   *     throws it
   */
  CompletableFuture<Void> extendAsync(Duration ttl);

  /**
   * Sets a new minimum for which other owners are kept out, from now, in place of {@link
   * LockRequest#holdAtLeast}. The new minimum may be shorter or longer. It counts when the lease is
   * released, and not if the lease is lost. Sends nothing.
   *
   * @param minimum zero to 24 hours, zero for a release that frees the lock at once
   * @throws LockLostException if the lease was lost
   * @throws LockConfigurationException if the minimum is out of range, or the backend does not
   *     declare {@link LockCapability#HOLD_AT_LEAST}
   * @throws IllegalStateException if the lease was released
   */
  default void holdAtLeast(Duration minimum) {
    throw new LockConfigurationException(
        "holdAtLeast of the lease on '"
            + name()
            + "' needs HOLD_AT_LEAST, which this lease does not have: release it later");
  }

  /**
   * Ends the lease without a release, so that another process can go on with the lock. That process
   * calls {@link LockManager#adopt} with the returned text. Waits for an extension in flight, then
   * extends the keys once, so that a quorum of nodes keeps them for at least {@code within} from
   * this call. {@link LockRequest#keepAliveUpTo} does not limit this extension, and {@link
   * LockRequest#holdAtLeast} is not kept.
   *
   * <p>The text is a secret like a password: it gives the lock away. Do not log it. The text serves
   * one adoption at most, also if it is delivered twice.
   *
   * <p>Afterwards the lease is not held, {@link #release()} and {@link #close()} do nothing, and
   * {@link #onLoss()} never completes. If this method throws {@link LockOutageException}, the lease
   * is still held and renewed, except after a wait far above the backend's own limit: if the
   * transfer succeeds after that, no caller gets the text, and the lock is released.
   *
   * @param within how long the lock waits for its adoption, above the manager's allowance for
   *     drift, up to its {@code maxTtl}
   * @return the text, in printable ASCII characters. Its length is about that of the name and the
   *     owner label and 120 characters
   * @throws LockLostException if the lease was lost, or is found to be
   * @throws LockOutageException if no quorum answered. The lease is still held for the validity
   *     that is left
   * @throws LockConfigurationException if {@code within} is out of range, or {@link
   *     LockCapability#TRANSFER} is not declared
   * @throws IllegalStateException if it was released or transferred
   */
  default String transfer(Duration within) {
    throw Decorated.withoutTransfer(this, "transfer");
  }

  /**
   * Transfers as {@link #transfer} does, without blocking. If the future was cancelled or completed
   * by other code, no caller gets the text, and the lock is released.
   *
   * @param within as for {@link #transfer}
   * @return completes on the manager's callback executor, with an exception as {@link #transfer}
   *     throws it
   */
  default CompletableFuture<String> transferAsync(Duration within) {
    return CompletableFuture.failedFuture(Decorated.withoutTransfer(this, "transferAsync"));
  }

  /**
   * Releases the lock. Removes only the keys of this grant, so that a later holder is not affected.
   * May be called again, with the same answer.
   *
   * @return true if it was held until now, false if it had been lost, or if its keys were gone when
   *     they should have been removed
   * @throws LockOutageException if no quorum answered. The lease is over for this holder, and keys
   *     that were not removed expire with the ttl
   */
  boolean release();

  /**
   * Releases as {@link #release} does, without blocking.
   *
   * @return completes on the manager's callback executor, with an exception as {@link #release}
   *     throws it
   */
  CompletableFuture<Boolean> releaseAsync();

  /**
   * Returns a future of the loss of this lease. The future completes within milliseconds after
   * {@link #isHeld()} turns false, as soon as a thread can run. After a sleep of the machine, or
   * after its wall clock was set ahead, it completes within a second.
   *
   * @return completes at most once, with the reason, never after a release. Each stage that depends
   *     on it is a task of its own on the manager's callback executor. Users cannot complete it,
   *     and repeated calls cost no memory. The stages that depend on it cost memory as long as the
   *     lease is in use, also after they are cancelled. A stage that refers to the lease keeps it
   *     in use: it is renewed although the application has no other reference to it
   */
  CompletableFuture<LossReason> onLoss();

  /**
   * Releases the lease as {@link #release()} does, for try-with-resources. Throws no {@link
   * LockException}. Logs a warning if the lease had been lost (with the time by which it was
   * overrun) or could not be released.
   */
  @Override
  void close();
}
