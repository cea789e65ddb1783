package dev.holdfast.cli;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where locks come from.
 *
 * @param url of a lock manager
 * @param nodeOptions words, for a URL of nodes of ours that does not have them itself
 */
record Backend(String url, Map<String, String> nodeOptions) {
  private static final String SCHEME = "redlock";

  /** The kinds of lock whose URLs list nodes, and have the same options for these. */
  private static final Set<String> OF_NODES = Set.of(SCHEME, "setnx");

  /** Has two URLs in its options. */
  private static final String MIGRATION = "migrate";

  private static final List<String> SIDES = List.of("from", "to");

  /** The driver where a URL names none and several are there. */
  static final String DRIVER = "lettuce";

  /** As a ttl, for commands without one: nodes have half a second to answer. */
  static final Duration OPERATORS_PATIENCE = Duration.ofSeconds(50);

  /** What nodes have to answer in unless more can be spared: the usual default. */
  private static final Duration LEAST_NODE_TIMEOUT = Duration.ofMillis(50);

  /** Backends take no more. */
  private static final Duration MOST_NODE_TIMEOUT = Duration.ofHours(1);

  private static final int TTL_PER_NODE_TIMEOUT = 100;

  Backend(String url) {
    this(url, Map.of());
  }

  /** What may be named in a URL between {@code redlock:} and the nodes. */
  static List<String> redlockDrivers() {
    return Providers.all(
            p -> FoundBackend.accepts(p, SCHEME + ":" + p.name() + ":redis://localhost"),
            broken -> {})
        .stream()
        .map(LockProvider::name)
        .sorted()
        .toList();
  }

  /** Nodes, by a driver. */
  static Backend of(String driver, TestNodes nodes) {
    return new Backend(SCHEME + ":" + driver + ":" + String.join(",", nodes.uris()));
  }

  /** What an option says, or the environment, or where the local nodes are. */
  static Backend of(@Nullable String option) {
    if (option != null) {
      return new Backend(option);
    }
    String variable = System.getenv("HOLDFAST_URL");
    return new Backend(variable == null || variable.isEmpty() ? LocalNodes.url() : variable);
  }

  /**
   * Lets nodes take a hundredth of the ttl: a JVM that has just been started, perhaps at midnight
   * together with fifty others, may be slow itself, and has no second attempt.
   */
  Backend patient(Duration ttl) {
    Duration share = ttl.dividedBy(TTL_PER_NODE_TIMEOUT);
    long millis =
        Math.max(
            LEAST_NODE_TIMEOUT.toMillis(),
            Math.min(share.toMillis(), MOST_NODE_TIMEOUT.toMillis()));
    return with("nodeTimeout", millis + "ms");
  }

  /** Leaves connecting to the first request, so that the time it takes is part of its wait. */
  Backend lazy() {
    return with("connect", "lazy");
  }

  /** Connects unless it is lazy, and then fails if no quorum of nodes is reached. */
  LockManager open() {
    LockUrl parsed = LockUrl.parse(url, Map.of());
    if (!parsed.scheme().equals(MIGRATION)) {
      return LockManager.open(completed(url, parsed));
    }
    Map<String, String> sides = new HashMap<>();
    for (String side : SIDES) {
      String inner = parsed.text(side, "");
      if (!inner.isEmpty()) {
        sides.put(side, completed(inner));
      }
    }
    return LockManager.open(url, sides);
  }

  /** One that is wrong is left to its backend, which says where it stands. */
  private String completed(String inner) {
    try {
      return completed(inner, LockUrl.parse(inner, Map.of()));
    } catch (LockConfigurationException wrong) {
      return inner;
    }
  }

  /** With what the URL does not say itself: the driver, and options. */
  private String completed(String given, LockUrl parsed) {
    if (!OF_NODES.contains(parsed.scheme())) {
      return given;
    }
    StringBuilder completed = new StringBuilder(given);
    if (parsed.scheme().equals(SCHEME)
        && parsed.driver().isEmpty()
        && Providers.first(p -> p.name().equals(DRIVER) && p.accepts(parsed)).isPresent()) {
      completed.insert(given.indexOf(':') + 1, DRIVER + ":");
    }
    new TreeMap<>(nodeOptions)
        .forEach(
            (option, value) -> {
              if (parsed.text(option, "").isEmpty()) {
                char separator = completed.indexOf("?") < 0 ? '?' : '&';
                completed.append(separator).append(option).append('=').append(value);
              }
            });
    return completed.toString();
  }

  private Backend with(String option, String value) {
    Map<String, String> options = new HashMap<>(nodeOptions);
    options.put(option, value);
    return new Backend(url, Map.copyOf(options));
  }
}
