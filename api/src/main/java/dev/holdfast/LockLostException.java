package dev.holdfast;

import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A loss: the lease is not held any more. Another owner may already work on the resource, so stop,
 * and write nothing.
 */
public final class LockLostException extends LockException {
  private static final long serialVersionUID = 1L;

  private final LossReason reason;

  /**
   * Creates an exception for a lost lease.
   *
   * @param name the name of the lock
   * @param reason why it was lost
   */
  public LockLostException(String name, LossReason reason) {
    this(name, reason, null);
  }

  /**
   * Creates an exception for a lost lease, with the failure of the interrupted work.
   *
   * @param name the name of the lock
   * @param reason why it was lost
   * @param cause the exception of the interrupted work, or null if it threw none
   */
  public LockLostException(String name, LossReason reason, @Nullable Throwable cause) {
    super("the lease on '" + name + "' was lost: " + explain(reason), cause);
    this.reason = Objects.requireNonNull(reason, "reason");
  }

  /**
   * Returns an exception for a transferred lease that cannot be adopted, because it does not hold
   * its lock any more.
   *
   * @param name the name of the lock
   * @param reason why not
   * @return a new exception
   */
  public static LockLostException notAdopted(String name, LossReason reason) {
    return new LockLostException(
        "the transferred lease on '" + name + "' cannot be adopted: " + explainTransfer(reason),
        null,
        reason);
  }

  private LockLostException(
      @Nullable String message, @Nullable Throwable cause, LossReason reason) {
    super(message, cause);
    this.reason = reason;
  }

  @Override
  LockLostException copy(UnaryOperator<Throwable> causes) {
    return new LockLostException(getMessage(), cause(causes), reason);
  }

  /**
   * Returns why the lease was lost.
   *
   * @return the reason
   */
  public LossReason reason() {
    return reason;
  }

  private static String explainTransfer(LossReason reason) {
    return switch (reason) {
      case TAKEN ->
          "another owner has the lock (TAKEN); the text may have been delivered twice, and serves"
              + " one adoption";
      case REMOVED ->
          "its keys are gone (REMOVED); it was adopted and released, or its time ran out, or these"
              + " are other nodes: adopt sooner, or transfer within a longer time";
      case EXPIRED, UNREACHABLE, MAX_HOLD, CLOSED ->
          "its time ran out ("
              + reason
              + "); adopt sooner, transfer within a longer time, or ask for a longer ttl";
    };
  }

  private static String explain(LossReason reason) {
    return switch (reason) {
      case EXPIRED ->
          "its time ran out (EXPIRED); ask for a longer ttl, or keepAliveUpTo to have it renewed";
      case TAKEN -> "another owner has it (TAKEN)";
      case REMOVED ->
          "its keys were removed (REMOVED); released by force, or the nodes lost their data";
      case UNREACHABLE ->
          "no quorum of nodes answered or allowed its renewals (UNREACHABLE); see the nodes' health"
              + " and the user's rights";
      case MAX_HOLD -> "it reached the longest hold that it asked for (MAX_HOLD)";
      case CLOSED -> "its manager was closed (CLOSED)";
    };
  }
}
