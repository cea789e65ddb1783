package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.EncodedRound;
import io.lettuce.core.CommandListenerWriter;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandExpiryWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * A connection of Lettuce's that serves commands. It ends at the first disconnect, whatever the
 * client would do then.
 */
final class LettuceConnection implements CommandWriter<byte[]>, RedisConnectionStateListener {
  /** A codec of ours, by which our own client knows our connections. */
  static final RedisCodec<String, String> CODEC = new StringCodec(UTF_8);

  /** One reason for all that fails at the end, because there may be thousands. */
  private final RedisConnectionException end =
      new RedisConnectionException("the connection has ended");

  private final RedisChannelHandler<?, ?> connection;
  private final RedisChannelWriter writer;
  private final Executor sender;
  private final boolean opensBatches;
  private final CommandConnection<byte[]> commands;

  private LettuceConnection(
      RedisChannelHandler<?, ?> connection, LettuceNode node, CommandConnection<byte[]> commands) {
    this.connection = connection;
    this.writer = innermost(connection.getChannelWriter());
    this.sender = node.sender();
    this.opensBatches = node.client() instanceof MinimalRedisClient;
    this.commands = commands;
  }

  static void begin(
      StatefulRedisConnection<String, String> made,
      LettuceNode node,
      CommandConnection<byte[]> commands) {
    if (!(made instanceof RedisChannelHandler<?, ?> handler)) {
      throw new IllegalStateException(
          "the client's connections are "
              + made.getClass().getName()
              + ": use a client whose connections are Lettuce's own");
    }
    LettuceConnection connection = new LettuceConnection(handler, node, commands);
    commands.onBegun(connection);
    handler.addListener(connection);
    commands.onConnected();
    if (!handler.isOpen()) {
      commands.onEnded(connection.end); // the listener came too late
    }
  }

  CommandConnection<byte[]> commands() {
    return commands;
  }

  /** Returns the failure of commands that the end of the connection leaves unanswered. */
  RedisConnectionException end() {
    return end;
  }

  @Override
  public Executor executor() {
    return sender;
  }

  @Override
  public void write(List<EncodedRound<byte[]>> rounds) {
    List<NodeCommand> batch = new ArrayList<>(rounds.size()); // a stream took 1.3 KB a lock
    for (EncodedRound<byte[]> round : rounds) {
      batch.add(new NodeCommand(round, this));
    }
    if (opensBatches) {
      writer.write(new NodeBatch(batch));
    } else {
      writer.write(batch);
    }
  }

  @Override
  public void close() {
    connection.closeAsync().whenComplete((done, failure) -> commands.onEnded(end));
  }

  /**
   * Lettuce may forget what comes in just when a connection ends: the commands' own queue does not.
   */
  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
    commands.onEnded(end);
  }

  /**
   * Leaves out what a client wraps around it. Rounds have a deadline of their own, and a timer of
   * Lettuce's would keep each command for as long as its timeout.
   */
  private static RedisChannelWriter innermost(RedisChannelWriter writer) {
    if (writer instanceof CommandListenerWriter listening) {
      return innermost(listening.getDelegate());
    }
    return writer instanceof CommandExpiryWriter expiring
        ? innermost(expiring.getDelegate())
        : writer;
  }
}
