package dev.holdfast.memory;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.Set;

/**
 * Opens {@code memory:} (a store of the manager's own) and {@code memory:name} (a store that is
 * shared in the JVM, and lives as long as it).
 */
public final class MemoryProvider implements LockProvider {
  private static final String MAX_TTL = "maxTtl";
  private static final String RETRY_DELAY = "retryDelay";
  private static final String OWNER = "owner";

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
    url.requireKnownOptions(Set.of(MAX_TTL, RETRY_DELAY, OWNER));
    if (!url.nodes().isEmpty()) {
      throw new LockConfigurationException(
          url + " names nodes: write memory: or memory:name, which lock in this process alone");
    }
    MemoryLocks.Builder builder =
        MemoryLocks.builder()
            .retryDelay(url.duration(RETRY_DELAY, MemoryLocks.DEFAULT_RETRY_DELAY))
            .maxTtl(url.duration(MAX_TTL, LockManagerBuilder.DEFAULT_MAX_TTL));
    url.name().map(MemoryStore::shared).ifPresent(builder::store);
    String owner = url.text(OWNER, "");
    return owner.isEmpty() ? builder.open() : builder.owner(owner).open();
  }
}
