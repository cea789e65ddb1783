package com.example.socketdriver;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.RedlockProvider;
import java.util.List;

/** Serves {@code redlock:socket:redis://…} URLs with plain sockets. */
public final class SocketDriver extends RedlockProvider {
  /** For {@link java.util.ServiceLoader}. */
  public SocketDriver() {
    super("socket");
  }

  @Override
  protected RedisNodes nodes(List<RedisNodeUri> uris, RedlockOptions options) {
    return new SocketNodes(uris, options.connectTimeout());
  }
}
