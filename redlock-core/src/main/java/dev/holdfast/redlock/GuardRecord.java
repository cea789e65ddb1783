package dev.holdfast.redlock;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node says of its quarantine.
 *
 * @param age since it began
 * @param left until it ends; zero if the node votes
 * @param isNew whether no record was there when it began
 * @param begun when it began by the node's clock, which tells it from every other one
 */
record GuardRecord(Duration age, Duration left, boolean isNew, String begun) {
  /** Ends no quarantine. */
  static final String NONE = "";

  /**
   * ARGV: the quarantine to end, which is done only if the node is new and it is the present one.
   * Without a record, or with another identity, the guard has just begun another.
   */
  private static final Vote REVIEW =
      Vote.of(
          """
          local begun = string.format('%.0f', since)
          if left > 0 and new == '1' and ARGV[1] == begun then
            redis.call('HSET', guard, 'since', 0, 'new', '0')
            left = 0
          end
          do return {math.floor((now - since) / 1000), math.ceil(left / 1000), tonumber(new), begun} end
          """);

  /** Asks for it. */
  static Command command(Guard guard, String toEnd) {
    return guard.command(REVIEW, List.of(), List.of(toEnd));
  }

  /** Reads a reply; null if it is none. */
  static @Nullable GuardRecord in(@Nullable Object reply) {
    return reply instanceof List<?> parts
            && parts.size() == 4
            && parts.get(0) instanceof Long age
            && parts.get(1) instanceof Long left
            && left >= 0
            && parts.get(2) instanceof Long isNew
            && parts.get(3) instanceof String begun
        ? new GuardRecord(Duration.ofMillis(age), Duration.ofMillis(left), isNew == 1, begun)
        : null;
  }

  boolean votes() {
    return left.isZero();
  }

  /** In words. */
  String text() {
    if (votes()) {
      return "it votes";
    }
    return isNew
        ? "it looks new; its vote counts in " + (left.toSeconds() + 1) + " s"
        : new Quarantine(Answer.MISSING, age, left, false).toString();
  }
}
