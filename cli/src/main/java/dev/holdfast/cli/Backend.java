package dev.holdfast.cli;

import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Where locks come from.
 *
 * @param url of a lock manager
 */
record Backend(String url) {
  private static final String SCHEME = "redlock";

  /** The driver where a URL names none and several are there. */
  private static final String DRIVER = "lettuce";

  /** What an option says, or the environment, or where the local nodes are. */
  static Backend of(@Nullable String option) {
    if (option != null) {
      return new Backend(option);
    }
    String variable = System.getenv("HOLDFAST_URL");
    return new Backend(variable == null || variable.isEmpty() ? LocalNodes.url() : variable);
  }

  /** Connects; fails if no quorum of nodes is reached. */
  LockManager open() {
    return open(Map.of());
  }

  /** Leaves connecting to the first request, so that the time it takes is part of its wait. */
  LockManager openLazily() {
    return LockUrl.parse(url, Map.of()).scheme().equals(SCHEME)
        ? open(Map.of("connect", "lazy"))
        : open();
  }

  private LockManager open(Map<String, String> options) {
    LockUrl parsed = LockUrl.parse(url, options);
    return parsed.scheme().equals(SCHEME) && parsed.driver().isEmpty()
        ? preferred(parsed)
            .map(provider -> LockManager.open(url, options, List.of(provider)))
            .orElseGet(() -> LockManager.open(url, options))
        : LockManager.open(url, options);
  }

  private static Optional<LockProvider> preferred(LockUrl url) {
    Iterator<LockProvider> providers = ServiceLoader.load(LockProvider.class).iterator();
    try {
      while (providers.hasNext()) {
        LockProvider provider = providers.next();
        if (provider.name().equals(DRIVER) && provider.accepts(url)) {
          return Optional.of(provider);
        }
      }
    } catch (ServiceConfigurationError | LinkageError e) {
      // The ordinary way to open one lists what is broken.
    }
    return Optional.empty();
  }
}
