package dev.holdfast.memory;

import dev.holdfast.core.DurationRange;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Options of Redlock that mean nothing in memory. Their values are checked anyway: a test profile
 * that only replaces the URL finds a wrong value before production does.
 */
final class RedlockOnly {
  /** All of them. */
  static final Set<String> NAMES =
      Set.of(
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect",
          "drift",
          "fencing",
          "restartGuard",
          "newNodes",
          "cluster");

  private static final List<String> TIMEOUTS =
      List.of("nodeTimeout", "quorumTimeout", "connectTimeout");

  /** A value in range, which nothing uses. */
  private static final Duration ANY_TIMEOUT = Duration.ofSeconds(1);

  private RedlockOnly() {}

  /**
   * Checks the values.
   *
   * @throws dev.holdfast.LockConfigurationException if Redlock would refuse one
   */
  static void check(LockUrl url) {
    for (String timeout : TIMEOUTS) {
      DurationRange.TIMEOUT.read(url, timeout, ANY_TIMEOUT);
    }
    if (url.percent("drift", 0) >= 1) {
      throw url.wrongOption("drift", "is out of range: give 0% to 99%");
    }
    url.flag("fencing", true);
    if (!url.text("restartGuard", "").isEmpty()) {
      url.flag("restartGuard", true);
    }
    url.isFirst("connect", "eager", "lazy");
    url.isFirst("newNodes", "wait", "trust");
  }
}
