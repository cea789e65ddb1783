package dev.holdfast.chaos;

import java.time.Duration;
import java.util.List;

/** The settings of all clients. */
final class Settings {
  static final List<String> NAMES = List.of("bills", "mails");

  /** Long, so that a machine that is busy is not taken for one more fault. */
  static final Duration NODE_TIMEOUT = Duration.ofMillis(300);

  /** The default: an outage is reported after it, and known from then on. */
  static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /** Short, so that quarantines are. */
  static final Duration MAX_TTL = Duration.ofSeconds(2);

  /** How long a node that lost its data does not vote: docs/guarantees.md. */
  static final Duration QUARANTINE = MAX_TTL.multipliedBy(101).dividedBy(100).plusMillis(1_002);

  private Settings() {}

  /** How long an attempt with this ttl may take: SPEC.md, "How long a call may take". */
  static Duration attempt(Duration ttl) {
    return shorter(QUORUM_TIMEOUT, ttl);
  }

  /**
   * How long an extension may take, from its turn and until its lease ends at the latest.
   *
   * @param isKept whether a renewal may be in flight, which comes first and moves the end
   */
  static Duration extension(Duration remaining, boolean isKept) {
    return isKept ? QUORUM_TIMEOUT.multipliedBy(2) : shorter(QUORUM_TIMEOUT, remaining);
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /**
   * Returns the URL of a manager.
   *
   * @param further options, each with an ampersand before it
   */
  static String url(String driver, List<String> uris, String further) {
    return "redlock:"
        + driver
        + ":"
        + String.join(",", uris)
        + "?connect=lazy&retryDelay=30ms&nodeTimeout="
        + NODE_TIMEOUT.toMillis()
        + "ms&quorumTimeout="
        + QUORUM_TIMEOUT.toMillis()
        + "ms&maxTtl="
        + MAX_TTL.toMillis()
        + "ms"
        + further;
  }
}
