package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.EncodedRound;
import io.lettuce.core.CommandListenerWriter;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandExpiryWriter;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * A connection of Lettuce's that serves commands. It ends at the first disconnect, whatever the
 * client would do then.
 *
 * @param opensBatches whether the client is ours, whose pipelines take a {@link NodeBatch}
 */
record LettuceConnection(
    RedisChannelHandler<?, ?> connection,
    RedisChannelWriter writer,
    boolean opensBatches,
    Executor executor,
    CommandConnection<byte[]> commands)
    implements CommandWriter<byte[]>, RedisConnectionStateListener {
  static void begin(
      StatefulRedisConnection<String, String> made,
      LettuceNode node,
      CommandConnection<byte[]> commands) {
    if (!(made instanceof RedisChannelHandler<?, ?> handler)) {
      made.closeAsync();
      throw new IllegalStateException(
          "the client's connections are "
              + made.getClass().getName()
              + ": use a client whose connections are Lettuce's own");
    }
    LettuceConnection connection =
        new LettuceConnection(
            handler,
            innermost(handler.getChannelWriter()),
            node.client() instanceof ManagedClient,
            node.sender(),
            commands);
    commands.onBegun(connection);
    handler.addListener(connection);
    commands.onConnected();
    if (!handler.isOpen()) {
      commands.onEnded(); // the listener came too late
    }
  }

  @Override
  public void write(List<EncodedRound<byte[]>> rounds) {
    List<NodeCommand> batch = new ArrayList<>(rounds.size()); // a stream took 1.3 KB a lock
    for (EncodedRound<byte[]> round : rounds) {
      batch.add(new NodeCommand(round));
    }
    if (opensBatches) {
      writer.write(new NodeBatch(batch, commands));
    } else {
      writer.write(batch);
    }
  }

  @Override
  public void close() {
    connection.closeAsync().whenComplete((done, failure) -> commands.onEnded());
  }

  /**
   * Fails all unanswered commands, also those that Lettuce forgets if they come when a connection
   * ends.
   */
  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
    commands.onEnded();
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

  /** A round's command on its way to one node. Its completion, on any thread, is the answer. */
  final class NodeCommand extends Command<String, String, Object> {
    private final EncodedRound<byte[]> round;

    /** Makes a command whose type is for statistics of the user's own client alone. */
    NodeCommand(EncodedRound<byte[]> round) {
      super(CommandType.EVALSHA, new ReplyOutput());
      this.round = round;
    }

    @Override
    public void complete() {
      status = ST_COMPLETED;
      String error = getError();
      if (error != null) {
        commands.onError(round, error);
      } else {
        commands.onReply(round, get());
      }
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
      status = ST_COMPLETED;
      commands.onFailure(round, cause);
      return true;
    }

    @Override
    public void cancel() {
      commands.onEnded();
    }

    @Override
    public void encode(ByteBuf buf) {
      buf.writeBytes(round.command());
    }
  }
}
