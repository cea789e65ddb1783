package dev.holdfast.chaos;

import java.time.Duration;
import java.util.List;

/** What all clients agree on. */
final class Settings {
  static final List<String> NAMES = List.of("bills", "mails");

  /** Long, so that a machine that is busy is not taken for one more fault. */
  static final Duration NODE_TIMEOUT = Duration.ofMillis(300);

  /** Short, so that quarantines are. */
  static final Duration MAX_TTL = Duration.ofSeconds(2);

  /** How long a node that lost its data does not vote: docs/guarantees.md. */
  static final Duration QUARANTINE = MAX_TTL.multipliedBy(101).dividedBy(100).plusMillis(1_002);

  private Settings() {}

  /**
   * Of a manager.
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
        + "ms&maxTtl="
        + MAX_TTL.toMillis()
        + "ms"
        + further;
  }
}
