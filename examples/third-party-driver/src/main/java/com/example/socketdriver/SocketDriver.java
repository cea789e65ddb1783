package com.example.socketdriver;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import dev.holdfast.spi.OpenSettings;
import java.util.List;

/** Serves {@code redlock:socket:redis://…} URLs with plain sockets. */
public final class SocketDriver extends RedlockProvider {
  /** For {@link java.util.ServiceLoader}. */
  public SocketDriver() {
    super("socket");
  }

  @Override
  protected RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
    for (RedisNodeUri uri : uris) {
      if (uri.isTls()) {
        throw new LockConfigurationException(
            "this driver knows redis:// alone: use another driver for " + uri);
      }
    }
    return new PipelinedNodes<>(
        uris.stream().map(uri -> new SocketNode(uri, options.connectTimeout())),
        Command::encoded,
        () -> {});
  }
}
