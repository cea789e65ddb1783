package dev.holdfast.redlock.redisson;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import dev.holdfast.spi.OpenSettings;
import java.util.List;

/** Serves {@code redlock:} and {@code redlock:redisson:} URLs. Stateless. */
public final class RedissonProvider extends RedlockProvider {
  /** For {@link java.util.ServiceLoader}. */
  public RedissonProvider() {
    super("redisson");
  }

  @Override
  protected RedisNodes nodes(List<RedisNodeUri> uris, RedlockOptions options) {
    return nodes(uris, options, OpenSettings.none());
  }

  @Override
  protected RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
    RedissonRedlock.Builder builder = RedissonRedlock.builder().options(options).tls(settings);
    uris.forEach(builder::node);
    return builder.connections();
  }
}
