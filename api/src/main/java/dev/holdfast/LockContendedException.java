package dev.holdfast;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Contention: another owner holds the lock, and the wait of the request is over. A quorum of nodes
 * answered, so nothing is broken.
 */
public final class LockContendedException extends LockException {
  private static final long serialVersionUID = 1L;

  private final LockVotes votes;
  private final Duration waited;
  private final @Nullable String holder;
  private final boolean heldByThisManager;

  /**
   * Creates an exception without the holder's label.
   *
   * @param name the name of the lock
   * @param votes the nodes' votes on the last attempt
   * @param waited how long the caller waited
   */
  public LockContendedException(String name, LockVotes votes, Duration waited) {
    this(name, votes, waited, null, false);
  }

  /**
   * Creates an exception that names the holder.
   *
   * @param name the name of the lock
   * @param votes the nodes' votes on the last attempt, or {@link LockVotes#NONE} when the waiter
   *     was never the first of its queue
   * @param waited how long the caller waited
   * @param holder the label of the owner that holds the lock, or null if it is not known
   * @param heldByThisManager whether the manager that was asked holds the lock itself
   */
  public LockContendedException(
      String name,
      LockVotes votes,
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
            + (votes.nodes() == 0
                ? "its turn to try never came"
                : "votes of the last attempt: " + votes)
            + (heldByThisManager
                ? "; a lock is not reentrant: release it first, or use Locks.asLock, which is"
                : ""),
        null,
        votes,
        waited,
        holder,
        heldByThisManager);
  }

  /**
   * Creates an exception for an adapter that knows no votes, because {@link
   * LockManager#tryAcquireAsync} only says that another owner holds the lock.
   *
   * @param name the name of the lock
   * @param waited how long the caller waited
   */
  public LockContendedException(String name, Duration waited) {
    this(
        "the lock '"
            + name
            + "' is held by another owner: waited "
            + waited.toMillis()
            + " ms; wait longer, or try again later",
        null,
        LockVotes.NONE,
        waited,
        null,
        false);
  }

  private LockContendedException(
      @Nullable String message,
      @Nullable Throwable cause,
      LockVotes votes,
      Duration waited,
      @Nullable String holder,
      boolean heldByThisManager) {
    super(message, cause);
    this.votes = votes;
    this.waited = Objects.requireNonNull(waited, "waited");
    this.holder = holder;
    this.heldByThisManager = heldByThisManager;
  }

  @Override
  LockContendedException copy(UnaryOperator<Throwable> causes) {
    return new LockContendedException(
        getMessage(), cause(causes), votes, waited, holder, heldByThisManager);
  }

  /**
   * Returns the nodes' votes on the last attempt.
   *
   * @return {@link LockVotes#NONE} when the waiter was never the first of its queue
   */
  public LockVotes votes() {
    return votes;
  }

  /**
   * Returns how long the caller waited.
   *
   * @return the time from the call to this exception
   */
  public Duration waited() {
    return waited;
  }

  /**
   * Returns the label of the owner that holds the lock, as {@link LockManager#inspect} shows it.
   *
   * @return empty if it is not known
   */
  public Optional<String> holder() {
    return Optional.ofNullable(holder);
  }

  /**
   * Returns whether the manager that was asked holds the lock itself. A lock is not reentrant, but
   * the view of {@link Locks#asLock} is.
   *
   * @return true if a lease of this manager keeps the lock from the caller
   */
  public boolean isHeldByThisManager() {
    return heldByThisManager;
  }
}
