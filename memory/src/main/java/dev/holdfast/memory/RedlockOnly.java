package dev.holdfast.memory;

import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Options of Redlock that mean nothing in memory. Their values are checked all the same: a test
 * profile that only replaces the URL finds a wrong value before production does.
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

  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration LONGEST = Duration.ofHours(1);

  private RedlockOnly() {}

  /**
   * Checks the values.
   *
   * @throws dev.holdfast.LockConfigurationException if Redlock would refuse one
   */
  static void check(LockUrl url) {
    Duration nodeTimeout = limited(url, "nodeTimeout", NODE_TIMEOUT);
    Duration quorumTimeout = limited(url, "quorumTimeout", longer(nodeTimeout, QUORUM_TIMEOUT));
    if (quorumTimeout.compareTo(nodeTimeout) < 0) {
      throw url.wrongOption("quorumTimeout", "is below nodeTimeout: give at least as much");
    }
    limited(url, "connectTimeout", CONNECT_TIMEOUT);
    if (url.percent("drift", 0) >= 1) {
      throw url.wrongOption("drift", "is out of range: give 0% to 99%");
    }
    url.flag("fencing", true);
    if (!url.text("restartGuard", "").isEmpty()) {
      url.flag("restartGuard", true);
    }
    requireWord(url, "connect", "eager", "lazy");
    requireWord(url, "newNodes", "wait", "trust");
  }

  /** A duration above zero, up to an hour. */
  static Duration limited(LockUrl url, String option, Duration otherwise) {
    Duration value = url.duration(option, otherwise);
    if (value.isZero() || value.compareTo(LONGEST) > 0) {
      throw url.wrongOption(option, "is out of range: give more than zero, up to 1h");
    }
    return value;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private static void requireWord(LockUrl url, String option, String first, String second) {
    if (!List.of(first, second).contains(url.text(option, first))) {
      throw url.wrongOption(
          option, "is neither: write " + option + "=" + first + " or " + option + "=" + second);
    }
  }
}
