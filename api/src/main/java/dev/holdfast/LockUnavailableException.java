package dev.holdfast;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else holds the lock, and the wait that was asked for is over. A quorum of nodes
 * answered: nothing is broken.
 */
public final class LockUnavailableException extends LockException {
  private static final long serialVersionUID = 1L;

  private final int granted;
  private final int refused;
  private final int unanswered;
  private final Duration waited;
  private final @Nullable String holder;
  private final boolean heldByThisManager;

  /**
   * Says that a lock was not to be had in time.
   *
   * @param name the name of the lock
   * @param granted how many nodes granted the last attempt
   * @param refused how many nodes refused it
   * @param unanswered how many nodes gave no answer in time, or an error
   * @param waited how long the caller waited
   */
  public LockUnavailableException(
      String name, int granted, int refused, int unanswered, Duration waited) {
    this(name, granted, refused, unanswered, waited, null, false);
  }

  /**
   * Says that a lock was not to be had in time, and which owner holds it.
   *
   * @param name the name of the lock
   * @param granted how many nodes granted the last attempt
   * @param refused how many nodes refused it
   * @param unanswered how many nodes gave no answer in time, or an error
   * @param waited how long the caller waited
   * @param holder the holder's label; null if it is not known
   * @param heldByThisManager whether the manager that was asked holds the lock itself
   */
  public LockUnavailableException(
      String name,
      int granted,
      int refused,
      int unanswered,
      Duration waited,
      @Nullable String holder,
      boolean heldByThisManager) {
    this(
        "the lock '"
            + name
            + "' is held by "
            + (heldByThisManager ? "this very manager" : "another owner")
            + (holder == null ? "" : ", '" + holder + "'")
            + ": waited "
            + waited.toMillis()
            + " ms; "
            + votes(granted, refused, unanswered)
            + (heldByThisManager
                ? "; a lock is not reentrant: release it first, or use Locks.asLock, which is"
                : ""),
        null,
        granted,
        refused,
        unanswered,
        waited,
        holder,
        heldByThisManager);
  }

  private LockUnavailableException(
      @Nullable String message,
      @Nullable Throwable cause,
      int granted,
      int refused,
      int unanswered,
      Duration waited,
      @Nullable String holder,
      boolean heldByThisManager) {
    super(message, cause);
    this.granted = granted;
    this.refused = refused;
    this.unanswered = unanswered;
    this.waited = Objects.requireNonNull(waited, "waited");
    this.holder = holder;
    this.heldByThisManager = heldByThisManager;
  }

  private static String votes(int granted, int refused, int unanswered) {
    return granted + refused + unanswered == 0
        ? "its turn to try never came"
        : "votes of the last attempt: "
            + granted
            + " granted, "
            + refused
            + " refused"
            + (unanswered == 0 ? "" : ", " + unanswered + " unanswered");
  }

  @Override
  LockUnavailableException copy(UnaryOperator<Throwable> causes) {
    return new LockUnavailableException(
        getMessage(),
        cause(causes),
        granted,
        refused,
        unanswered,
        waited,
        holder,
        heldByThisManager);
  }

  /**
   * Votes for the last attempt; all three are 0 when a waiter's turn to try never came.
   *
   * @return how many nodes granted it
   */
  public int granted() {
    return granted;
  }

  /**
   * Votes against the last attempt.
   *
   * @return how many nodes refused it
   */
  public int refused() {
    return refused;
  }

  /**
   * Nodes that did not vote in the last attempt. A node whose vote was still to come when the
   * others had decided is not counted.
   *
   * @return how many gave no answer in time, or an error
   */
  public int unanswered() {
    return unanswered;
  }

  /**
   * How long the caller waited.
   *
   * @return the time from the call to this exception
   */
  public Duration waited() {
    return waited;
  }

  /**
   * The label of the owner that holds the lock, as {@link LockManager#inspect} shows it.
   *
   * @return empty if it is not known
   */
  public Optional<String> holder() {
    return Optional.ofNullable(holder);
  }

  /**
   * Whether the manager that was asked holds the lock itself. A lock is not reentrant; the view of
   * {@link Locks#asLock} is.
   *
   * @return true if a lease of this manager keeps the lock from the caller
   */
  public boolean isHeldByThisManager() {
    return heldByThisManager;
  }
}
