package dev.holdfast.memory;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Opens {@code memory:} (a store of the manager's own) and {@code memory:name} (a store that is
 * shared in the JVM, and lives as long as it). Takes all options of {@code redlock:} URLs, so that
 * a test profile replaces the URL alone.
 */
public final class MemoryProvider implements LockProvider {
  private static final String MAX_TTL = "maxTtl";
  private static final String RETRY_DELAY = "retryDelay";
  private static final String OWNER = "owner";
  private static final String KEY_PREFIX = "keyPrefix";

  private static final Set<String> OPTIONS =
      Stream.concat(Stream.of(MAX_TTL, RETRY_DELAY, OWNER, KEY_PREFIX), RedlockOnly.NAMES.stream())
          .collect(Collectors.toUnmodifiableSet());

  /** For {@link java.util.ServiceLoader}. */
  public MemoryProvider() {}

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("memory") && url.driver().isEmpty();
  }

  @Override
  public LockManager open(LockUrl url) {
    url.requireKnownOptions(OPTIONS);
    RedlockOnly.check(url);
    if (!url.nodes().isEmpty()) {
      throw new LockConfigurationException(
          url + " names nodes: write memory: or memory:name, which lock in this process alone");
    }
    MemoryLocks.Builder builder =
        MemoryLocks.builder()
            .retryDelay(RedlockOnly.limited(url, RETRY_DELAY, MemoryLocks.DEFAULT_RETRY_DELAY))
            .keyPrefix(url.text(KEY_PREFIX, ""))
            .maxTtl(url.duration(MAX_TTL, LockManagerBuilder.DEFAULT_MAX_TTL));
    url.name().map(MemoryStore::shared).ifPresent(builder::store);
    String owner = url.text(OWNER, "");
    return owner.isEmpty() ? builder.open() : builder.owner(owner).open();
  }
}
