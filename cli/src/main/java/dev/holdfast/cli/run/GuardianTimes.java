package dev.holdfast.cli.run;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The times at which the guardian ends a command without a message from its parent.
 *
 * @param grace from SIGTERM to SIGKILL
 * @param lead the same, before the end of a lock that is not renewed
 * @param margin from SIGKILL to the end of the lock
 * @param period from one line about the validity to the next
 */
record GuardianTimes(Duration grace, Duration lead, Duration margin, Duration period) {
  /** The time that a kill may take on a busy machine. */
  static final Duration MARGIN = Duration.ofMillis(500);

  private static final Duration LONGEST_PERIOD = Duration.ofSeconds(1);
  private static final int PERIODS = 30;
  private static final int MARGINS = 10;

  /**
   * Returns those of a lock that is renewed when a third of its ttl has passed. The renewal has the
   * second third to succeed. The last one is for the end of the command.
   */
  static GuardianTimes renewed(Duration ttl, Duration grace) {
    Duration margin = least(MARGIN, ttl.dividedBy(MARGINS));
    return new GuardianTimes(
        grace, least(grace, ttl.dividedBy(3).minus(margin)), margin, period(ttl));
  }

  /** Returns those of a lock that has its ttl and no more. */
  static GuardianTimes bounded(Duration ttl, Duration grace) {
    return new GuardianTimes(grace, grace, MARGIN, period(ttl));
  }

  /** Returns them as the script takes them: in milliseconds. */
  List<String> arguments() {
    return Stream.of(grace, lead, margin).map(d -> Long.toString(d.toMillis())).toList();
  }

  private static Duration period(Duration ttl) {
    return least(LONGEST_PERIOD, ttl.dividedBy(PERIODS));
  }

  private static Duration least(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
