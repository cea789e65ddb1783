package dev.holdfast.redlock.lettuce;

import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubAsyncCommandsImpl;
import io.lettuce.core.pubsub.RedisPubSubReactiveCommandsImpl;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;

/**
 * Makes connections for {@link LettuceConnection#CODEC} and {@link LettucePubSubConnection#CODEC}
 * without Lettuce's three interfaces for every command of Redis: loading their classes takes most
 * of the time to the first lock, and on a busy machine stops all nodes for seconds at the first
 * subscription.
 */
final class MinimalRedisClient extends RedisClient {
  MinimalRedisClient(ClientResources resources) {
    super(resources, new RedisURI());
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
    return codec == LettuceConnection.CODEC
        ? new LeanConnection<>(writer, pushes, codec, timeout)
        : super.newStatefulRedisConnection(writer, pushes, codec, timeout);
  }

  @Override
  protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
      PubSubEndpoint<K, V> endpoint,
      RedisChannelWriter writer,
      RedisCodec<K, V> codec,
      Duration timeout) {
    return codec == LettucePubSubConnection.CODEC
        ? new LeanListener<>(endpoint, writer, codec, timeout)
        : super.newStatefulRedisPubSubConnection(endpoint, writer, codec, timeout);
  }

  /** Can be written to, and nothing else. */
  @SuppressWarnings("NullAway") // what is left out is never asked for
  private static final class LeanConnection<K, V> extends StatefulRedisConnectionImpl<K, V> {
    LeanConnection(
        RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
      super(writer, pushes, codec, timeout);
    }

    @Override
    protected RedisAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisCommands<K, V> newRedisSyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
      return null;
    }
  }

  /** Can be written to, and tells what was published. */
  @SuppressWarnings("NullAway") // as above
  private static final class LeanListener<K, V> extends StatefulRedisPubSubConnectionImpl<K, V> {
    LeanListener(
        PubSubEndpoint<K, V> endpoint,
        RedisChannelWriter writer,
        RedisCodec<K, V> codec,
        Duration timeout) {
      super(endpoint, writer, codec, timeout);
    }

    @Override
    protected RedisPubSubAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisPubSubReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
      return null;
    }
  }
}
