package dev.holdfast.redlock.redisson;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import dev.holdfast.spi.OpenSettings;
import java.util.List;

/** Serves {@code redlock:} and {@code redlock:redisson:} URLs. Stateless. */
public final class RedissonProvider extends RedlockProvider {
  /** Makes the provider, for {@link java.util.ServiceLoader}. */
  public RedissonProvider() {
    super("redisson", true);
  }

  @Override
  protected RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
    RedissonRedlock.Builder builder = RedissonRedlock.builder().options(options);
    uris.forEach(builder::node);
    return builder.connections(settings);
  }
}
