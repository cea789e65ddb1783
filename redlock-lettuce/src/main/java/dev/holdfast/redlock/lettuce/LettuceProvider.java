package dev.holdfast.redlock.lettuce;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import dev.holdfast.spi.OpenSettings;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import java.util.List;

/** Serves {@code redlock:} and {@code redlock:lettuce:} URLs. Stateless. */
public final class LettuceProvider extends RedlockProvider {
  /** Makes the provider, for {@link java.util.ServiceLoader}. */
  public LettuceProvider() {
    super("lettuce", true);
  }

  @Override
  protected RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(options);
    uris.forEach(uri -> builder.node(redisUri(uri)));
    return builder.connections(settings);
  }

  private static RedisURI redisUri(RedisNodeUri node) {
    RedisURI uri = new RedisURI();
    uri.setHost(node.host());
    uri.setPort(node.port());
    uri.setSsl(node.isTls());
    uri.setDatabase(node.database());
    if (node.password() != null) {
      uri.setCredentialsProvider(
          new StaticCredentialsProvider(node.user(), node.password().toCharArray()));
    }
    uri.setClientName("holdfast");
    // no CLIENT SETINFO: a user may lack the right to, and the server would log each refusal
    uri.setLibraryName("");
    uri.setLibraryVersion("");
    return uri;
  }
}
