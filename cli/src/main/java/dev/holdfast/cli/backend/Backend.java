package dev.holdfast.cli.backend;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.cli.process.ProcessContext;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testnodes.TestNodes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The backend of the locks.
 *
 * @param url of a lock manager
 * @param isLazy whether nodes of ours are connected by the first request, unless the URL says
 *     itself
 */
public record Backend(String url, boolean isLazy) {
  private static final String SCHEME = "redlock";

  /** The kinds of lock whose URLs list nodes, and have the same options for these. */
  private static final Set<String> OF_NODES = Set.of(SCHEME, "setnx");

  /** Has two URLs in its options. */
  private static final String MIGRATION = "migrate";

  private static final List<String> SIDES = List.of("from", "to");

  /** The driver where a URL names none and several are there. */
  public static final String DRIVER = "lettuce";

  public Backend(String url) {
    this(url, false);
  }

  /** Returns the names that may stand in a URL between {@code redlock:} and the nodes. */
  public static List<String> redlockDrivers() {
    return Providers.all(
            p -> FoundBackend.accepts(p, SCHEME + ":" + p.name() + ":redis://localhost"),
            broken -> {})
        .stream()
        .map(LockProvider::name)
        .sorted()
        .toList();
  }

  /** Nodes, by a driver. */
  public static Backend of(String driver, TestNodes nodes) {
    return new Backend(SCHEME + ":" + driver + ":" + String.join(",", nodes.uris()));
  }

  /** Returns the backend of an option, else of the environment, else of the local nodes. */
  public static Backend of(@Nullable String option) {
    if (option != null) {
      return new Backend(option);
    }
    String variable = ProcessContext.current().variable("HOLDFAST_URL");
    return new Backend(variable.isEmpty() ? LocalNodes.url() : variable);
  }

  /** Leaves connecting to the first request, so that the time it takes is part of its wait. */
  public Backend lazy() {
    return new Backend(url, true);
  }

  /** Connects unless it is lazy, and then fails if no quorum of nodes is reached. */
  public LockManager open() {
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

  /** Completes a URL. Leaves a wrong URL to its backend, whose message names the place. */
  private String completed(String inner) {
    try {
      return completed(inner, LockUrl.parse(inner, Map.of()));
    } catch (LockConfigurationException wrong) {
      return inner;
    }
  }

  /** Adds options that the URL does not set: the driver, and options. */
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
