package dev.holdfast;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that is held, for a time. It ends by {@link #release()}, or by being lost: a lease that
 * was lost or released never comes back.
 *
 * <p>A lease says what is true by its own clock: {@link #isHeld()} and {@link #remaining()} need no
 * message and no thread, and are right even if every other thread is stuck. What is true in the
 * world can only be made sure where the effect happens: pass {@link #fencingToken()} there.
 *
 * <p>Safe for use by many threads. Keep it reachable while it is needed: a lease that nobody can
 * reach any more is no longer renewed, and a warning is logged.
 */
public interface Lease extends AutoCloseable {
  /**
   * The name of the lock.
   *
   * @return the name, as it was asked for
   */
  String name();

  /**
   * Returns the proof of this grant: the value that stands in the backend, never used twice.
   *
   * @return the token
   */
  String token();

  /**
   * A number that strictly increases from grant to grant of one name, to be passed to the resource
   * that the lock protects, which refuses any that is smaller than the largest it has seen.
   *
   * @return the fencing token; empty if the backend does not declare {@link
   *     LockCapability#FENCING_TOKEN}
   */
  OptionalLong fencingToken();

  /**
   * How long the lease is safely held from now on if nothing renews it: the time that was granted,
   * less what has elapsed and what clocks may drift apart. Elapsed is the larger of monotonic and
   * wall-clock time, because a machine that slept has spent its validity.
   *
   * @return the time left; {@link Duration#ZERO} when it is lost or released
   */
  Duration remaining();

  /**
   * Whether the lease is held, exactly, by its own clock.
   *
   * @return true if it is neither released nor lost nor past its end
   */
  boolean isHeld();

  /**
   * Returns if the lease is held. To be called before every effect that others can see.
   *
   * @throws LockLostException if it was lost
   * @throws IllegalStateException if it was released
   */
  void requireHeld();

  /**
   * Extends the lease so that at least {@code ttl} (less the allowance for drift) is left. It never
   * revives a lease that was lost, never shortens one, and never goes past {@link
   * LockRequest#keepAliveUpTo}.
   *
   * @param ttl above the manager's allowance for drift, up to its {@code maxTtl}
   * @throws LockLostException if the lease was lost, or is found to be
   * @throws LockOutageException if no quorum answered; the lease is still held for what it has left
   * @throws LockConfigurationException if the ttl is out of range, or the backend does not declare
   *     {@link LockCapability#EXTENSION}
   * @throws IllegalStateException if it was released
   */
  void extend(Duration ttl);

  /**
   * Extends as {@link #extend} does, without blocking.
   *
   * @param ttl as for {@link #extend}
   * @return completes on the manager's callback executor; with an exception as {@link #extend}
   *     throws it
   */
  CompletableFuture<Void> extendAsync(Duration ttl);

  /**
   * Sets a new minimum for which other owners are kept out, from now, in place of {@link
   * LockRequest#holdAtLeast}: shorter or longer. It counts when the lease is released, and not if
   * the lease is lost. Sends nothing.
   *
   * @param minimum zero to 24 hours; zero for a release that frees the lock at once
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
   * Ends the lease without a release, so that another process can go on with the lock: it calls
   * {@link LockManager#adopt} with the returned text. Waits for an extension in flight, then
   * extends the keys once, so that a quorum of nodes keeps them for at least {@code within} from
   * this call. {@link LockRequest#keepAliveUpTo} does not limit this extension, and {@link
   * LockRequest#holdAtLeast} is not kept.
   *
   * <p>The text is a secret like a password: it gives the lock away. Do not log it. It serves one
   * adoption at most, also if it is delivered twice.
   *
   * <p>Afterwards the lease is not held, {@link #release()} and {@link #close()} do nothing, and
   * {@link #onLoss()} never completes. If this method throws {@link LockOutageException}, the lease
   * is still held and renewed.
   *
   * @param within how long the lock waits for its adoption; above the manager's allowance for
   *     drift, up to its {@code maxTtl}
   * @return the text, in printable ASCII characters; its length is about that of the name and the
   *     owner label and 120 characters
   * @throws LockLostException if the lease was lost, or is found to be
   * @throws LockOutageException if no quorum answered; the lease is still held for what it has left
   * @throws LockConfigurationException if {@code within} is out of range, or {@link
   *     LockCapability#TRANSFER} is not declared
   * @throws IllegalStateException if it was released or transferred
   */
  default String transfer(Duration within) {
    throw new LockConfigurationException(
        getClass().getName() + " has no transfer: override it, or use a backend that has TRANSFER");
  }

  /**
   * Transfers as {@link #transfer} does, without blocking. If nobody takes the text any more,
   * because the future was cancelled or completed by other code, the lock is released.
   *
   * @param within as for {@link #transfer}
   * @return completes on the manager's callback executor; with an exception as {@link #transfer}
   *     throws it
   */
  default CompletableFuture<String> transferAsync(Duration within) {
    return CompletableFuture.failedFuture(
        new LockConfigurationException(
            getClass().getName()
                + " has no transferAsync: override it, or use a backend that has TRANSFER"));
  }

  /**
   * Gives the lock back. Only this grant's own keys are touched, whoever holds the lock by now. May
   * be called again: the answer is the same.
   *
   * @return true if it was held until now; false if it had been lost, or if its keys were gone when
   *     they should have been removed
   * @throws LockOutageException if no quorum answered: the lease is over for this holder, and what
   *     was not reached expires with the ttl
   */
  boolean release();

  /**
   * Releases as {@link #release} does, without blocking.
   *
   * @return completes on the manager's callback executor; with an exception as {@link #release}
   *     throws it
   */
  CompletableFuture<Boolean> releaseAsync();

  /**
   * Tells of the loss of this lease. Follows {@link #isHeld()} within milliseconds, as soon as a
   * thread can run; and within a second after the machine has slept, or its wall clock was set
   * ahead.
   *
   * @return completes at most once, with the reason, never after a release. Each stage that depends
   *     on it is a task of its own on the manager's callback executor. Users cannot complete it,
   *     and asking for it often costs no memory. The stages that depend on it do, as long as the
   *     lease is in use, also after they are cancelled
   */
  CompletableFuture<LossReason> onLoss();

  /**
   * {@link #release()}, for try-with-resources: throws no {@link LockException}, and logs a warning
   * if the lease had been lost (with the time by which it was overrun) or could not be given back.
   */
  @Override
  void close();
}
