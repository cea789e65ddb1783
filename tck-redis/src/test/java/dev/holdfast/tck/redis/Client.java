package dev.holdfast.tck.redis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.RedisErrorReply;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client in the place of a manager: a connection of the managers' user. */
final class Client implements AutoCloseable {
  private final RawRedis connection;

  private Client(RawRedis connection) {
    this.connection = connection;
  }

  static Client of(String uri) {
    return of(uri, Duration.ofSeconds(10));
  }

  static Client of(String uri, Duration limit) {
    RedisNodeUri node = NodeUris.parse(uri);
    RawRedis connection = RawRedis.connect(node.host(), node.port(), limit);
    if (node.password() != null) {
      connection.call("AUTH", NodeUris.user(node), node.password());
    }
    return new Client(connection);
  }

  @Nullable Object call(String... words) {
    return connection.call(words);
  }

  /** The reply, or the first word of the error. */
  @Nullable Object answer(String... words) {
    try {
      return connection.call(words);
    } catch (RedisErrorReply e) {
      return e.code();
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
