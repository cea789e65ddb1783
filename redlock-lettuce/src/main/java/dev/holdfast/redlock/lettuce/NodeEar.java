package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.RedisNodes;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateAdapter;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.PubSubOutput;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one node that listens. What is said before it is made waits for it, and what is
 * said while the node owes an answer waits for that: of a node that hangs, few commands are left
 * when its connection ends, each of which costs the loop of all nodes its time.
 */
final class NodeEar implements RedisNodes.Ear {
  /** Of no other connections; see {@link LeanClient}. */
  static final RedisCodec<String, String> CODEC = new StringCodec(StandardCharsets.UTF_8);

  private final RedisNodes.Heard heard;
  private final Runnable ended;
  private final Set<String> channels = new HashSet<>();

  /** Changes that the node does not know yet: the channel, and whether to listen to it. */
  private final Map<String, Boolean> untold = new LinkedHashMap<>();

  private @Nullable StatefulRedisPubSubConnection<String, String> connection;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private boolean telling;
  private boolean over;
  private boolean closing;

  NodeEar(String channel, RedisNodes.Heard heard, Runnable ended) {
    subscribe(channel);
    this.heard = heard;
    this.ended = ended;
  }

  /** Goes on once there is a connection, or none, and not before this has returned. */
  void on(
      CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting,
      Executor executor) {
    connecting.whenCompleteAsync(
        (made, failure) -> {
          if (failure != null) {
            gone.complete(null);
            end();
          } else if (!begins(made)) {
            end();
          }
        },
        executor);
  }

  @Override
  public synchronized void subscribe(String channel) {
    if (channels.add(channel) && !untold.remove(channel, false)) {
      untold.put(channel, true);
      tell();
    }
  }

  @Override
  public synchronized void unsubscribe(String channel) {
    if (channels.remove(channel) && !untold.remove(channel, true)) {
      untold.put(channel, false);
      tell();
    }
  }

  @Override
  public synchronized void close() {
    over = true;
    if (connection != null && !closing) {
      closing = true; // Lettuce warns of a second close
      connection.closeAsync().whenComplete((done, failure) -> gone.complete(null));
    }
  }

  /** Completes when there is no connection, and none is being made, after {@link #close}. */
  CompletableFuture<Void> gone() {
    return gone;
  }

  /** Returns false for a connection that has ended already. */
  private synchronized boolean begins(StatefulRedisPubSubConnection<String, String> made) {
    connection = made;
    made.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            heard.message(channel, message);
          }
        });
    made.addListener(
        new RedisConnectionStateAdapter() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> gone) {
            end();
          }
        });
    if (over) {
      close();
    } else if (made.isOpen()) {
      tell();
    }
    return made.isOpen();
  }

  private synchronized void tell() {
    if (connection == null || over || telling || untold.isEmpty()) {
      return;
    }
    boolean listens = untold.values().iterator().next();
    List<String> those = new ArrayList<>();
    untold.forEach(
        (channel, wanted) -> {
          if (wanted == listens) {
            those.add(channel);
          }
        });
    those.forEach(untold::remove);
    telling = true;
    say(connection, listens ? CommandType.SUBSCRIBE : CommandType.UNSUBSCRIBE, those)
        .whenComplete((done, failure) -> told(failure));
  }

  /** A client of the user's may have a time-out of its own, after which the node still listens. */
  private void told(@Nullable Throwable failure) {
    if (failure instanceof RedisCommandExecutionException) {
      refused(failure);
      return;
    }
    synchronized (this) {
      telling = false;
      tell();
    }
  }

  private static CompletionStage<String> say(
      StatefulRedisPubSubConnection<String, String> on, CommandType what, List<String> channels) {
    AsyncCommand<String, String, String> command =
        new AsyncCommand<>(
            new Command<>(
                what, new PubSubOutput<>(CODEC), new CommandArgs<>(CODEC).addKeys(channels)));
    on.dispatch(command);
    return command;
  }

  private void refused(Throwable failure) {
    if (String.valueOf(failure.getMessage()).startsWith("NOPERM")) {
      close(); // it stays deaf
    } else {
      end();
    }
  }

  private void end() {
    synchronized (this) {
      if (over) {
        return;
      }
      close(); // a client of the user's would make it again
    }
    ended.run();
  }
}
