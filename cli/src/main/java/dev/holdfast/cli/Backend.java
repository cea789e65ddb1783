package dev.holdfast.cli;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testnodes.TestNodes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where locks come from.
 *
 * @param url of a lock manager
 * @param isLazy whether nodes of ours are connected by the first request, unless the URL says
 *     itself
 */
record Backend(String url, boolean isLazy) {
  private static final String SCHEME = "redlock";

  /** The kinds of lock whose URLs list nodes, and have the same options for these. */
  private static final Set<String> OF_NODES = Set.of(SCHEME, "setnx");

  /** Has two URLs in its options. */
  private static final String MIGRATION = "migrate";

  private static final List<String> SIDES = List.of("from", "to");

  /** The driver where a URL names none and several are there. */
  static final String DRIVER = "lettuce";

  Backend(String url) {
    this(url, false);
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

  /** Leaves connecting to the first request, so that the time it takes is part of its wait. */
  Backend lazy() {
    return new Backend(url, true);
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
    if (isLazy && parsed.text("connect", "").isEmpty()) {
      completed.append(completed.indexOf("?") < 0 ? '?' : '&').append("connect=lazy");
    }
    return completed.toString();
  }
}
