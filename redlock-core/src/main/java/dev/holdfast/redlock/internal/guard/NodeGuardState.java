package dev.holdfast.redlock.internal.guard;

import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.vote.GuardedScript;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Script;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a node's restart guard, as the node reports it.
 *
 * @param age the time since its quarantine began
 * @param left the time until the quarantine may end, by this client's longest ttl
 * @param isNew whether the node had no guard record when the quarantine began
 * @param begun when the quarantine began by the node's clock, which identifies it, or zero if the
 *     node votes
 */
public record NodeGuardState(Duration age, Duration left, boolean isNew, String begun) {
  /** The argument that ends no quarantine. */
  public static final String NONE = "";

  /**
   * Reports the quarantine. ARGV: the quarantine to end. It is ended only if the node is new and it
   * is the present one. Without a guard record, or with another identity, the guard has just begun
   * another quarantine.
   */
  private static final Script REVIEW =
      GuardedScript.about(
          """
          if since > 0 and new == '1' and ARGV[1] == string.format('%.0f', since) then
            redis.call('HSET', guard, 'terms', terms, 'longest', ARGV[at + 3], 'since', 0,
              'new', '0', 'begun', ARGV[1])
            since = 0
          end
          return {math.floor((now - since) / 1000), math.max(0, math.ceil(left / 1000)),
            tonumber(new), string.format('%.0f', since)}
          """);

  private static final String NO_QUARANTINE = "0";

  /**
   * Returns the command that reports the state.
   *
   * @param toEnd the quarantine to end, or {@link #NONE}
   */
  public static Command command(GuardTerms guard, String toEnd) {
    return guard.command(REVIEW, List.of(), List.of(toEnd));
  }

  /**
   * Reads a reply.
   *
   * @return null for any other reply
   */
  public static @Nullable NodeGuardState in(@Nullable Object reply) {
    return reply instanceof List<?> parts
            && parts.size() == 4
            && parts.get(0) instanceof Long age
            && parts.get(1) instanceof Long left
            && left >= 0
            && parts.get(2) instanceof Long isNew
            && parts.get(3) instanceof String begun
        ? new NodeGuardState(Duration.ofMillis(age), Duration.ofMillis(left), isNew == 1, begun)
        : null;
  }

  public boolean votes() {
    return begun.equals(NO_QUARANTINE);
  }

  /** Describes the state in words. */
  public String text() {
    if (votes()) {
      return "it votes";
    }
    if (left.isZero()) {
      return Quarantine.CAN_END;
    }
    return isNew
        ? "it looks new; its vote counts in " + (left.toSeconds() + 1) + " s"
        : Quarantine.cause(false)
            + " "
            + Quarantine.seconds(age)
            + " ago; its vote counts again in "
            + Quarantine.seconds(left);
  }
}
