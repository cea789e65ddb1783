package dev.holdfast.redlock.jedis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import dev.holdfast.spi.OpenSettings;
import java.util.List;

/** Serves {@code redlock:} and {@code redlock:jedis:} URLs. Stateless. */
public final class JedisProvider extends RedlockProvider {
  /** Makes the provider, for {@link java.util.ServiceLoader}. */
  public JedisProvider() {
    super("jedis", true);
  }

  @Override
  protected RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    uris.forEach(node -> builder.node(Address.of(node, settings)));
    return builder.connections();
  }
}
