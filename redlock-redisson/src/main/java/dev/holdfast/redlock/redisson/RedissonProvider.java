package dev.holdfast.redlock.redisson;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;

/** Serves {@code redlock:} and {@code redlock:redisson:} URLs. Stateless. */
public final class RedissonProvider implements LockProvider {
  /** For {@link java.util.ServiceLoader}. */
  public RedissonProvider() {}

  @Override
  public String name() {
    return "redisson";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("redlock")
        && url.driver().orElse(name()).equals(name())
        && !url.nodes().isEmpty();
  }

  @Override
  public LockManager open(LockUrl url) {
    url.requireKnownOptions(RedlockOptions.NAMES);
    RedissonRedlock.Builder builder = RedissonRedlock.builder().options(RedlockOptions.from(url));
    url.nodes().forEach(builder::node);
    return builder.open();
  }
}
