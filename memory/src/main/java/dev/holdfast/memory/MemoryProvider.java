package dev.holdfast.memory;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Opens {@code memory:} (a store of the manager's own) and {@code memory:name} (a store that is
 * shared in the JVM, and lives as long as it). Takes all options of {@code redlock:} URLs, so that
 * a test profile replaces the URL alone.
 */
public final class MemoryProvider implements LockProvider {
  private static final String KEY_PREFIX = "keyPrefix";

  private static final Set<String> OPTIONS =
      Stream.of(ManagerOptions.namesAnd(KEY_PREFIX), RedlockOnly.NAMES)
          .flatMap(Set::stream)
          .collect(Collectors.toUnmodifiableSet());

  /** Makes the provider, for {@link java.util.ServiceLoader}. */
  public MemoryProvider() {}

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public LockManager open(LockUrl url) {
    return open(url, OpenSettings.none());
  }

  @Override
  public LockManager open(LockUrl url, OpenSettings settings) {
    settings.requireNoTls(name());
    url.requireKnownOptions(OPTIONS);
    RedlockOnly.check(url);
    if (url.addresses().isPresent()) {
      throw new LockConfigurationException(
          url + " names nodes: write memory: or memory:name, which lock in this process alone");
    }
    MemoryLocks.Builder builder =
        MemoryLocks.builder()
            .managerOptions(options -> options.read(url).apply(settings))
            .keyPrefix(url.text(KEY_PREFIX, ""));
    settings.wallClock().map(Clock::withWall).ifPresent(builder::clock);
    url.name().map(name -> shared(name, settings)).ifPresent(builder::store);
    return builder.open();
  }

  /** Returns the store of this name, which has one clock for all its managers. */
  private static MemoryStore shared(String name, OpenSettings settings) {
    if (settings.wallClock().isPresent()) {
      throw new LockConfigurationException(
          "the store of memory:"
              + name
              + " has the machine's clock: leave the wall clock out, or give managers one store by"
              + " MemoryLocks.builder().store(…)");
    }
    return MemoryStore.shared(name);
  }
}
