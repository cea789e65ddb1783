package dev.holdfast.redlock.jedis;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;

/** Serves {@code redlock:} and {@code redlock:jedis:} URLs. Stateless. */
public final class JedisProvider implements LockProvider {
  /** For {@link java.util.ServiceLoader}. */
  public JedisProvider() {}

  @Override
  public String name() {
    return "jedis";
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
    JedisRedlock.Builder builder = JedisRedlock.builder().options(RedlockOptions.from(url));
    url.nodes().forEach(builder::node);
    return builder.open();
  }
}
