package com.example.socketdriver;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.RedisNode;
import java.time.Duration;

/** A node that is reached by sockets. */
record SocketNode(RedisNodeUri uri, Duration connectTimeout) implements RedisNode<byte[]> {
  @Override
  public String address() {
    return uri.address();
  }

  @Override
  public void connect(CommandConnection<byte[]> connection) {
    new SocketConnection(uri, connection).begin(connectTimeout);
  }
}
