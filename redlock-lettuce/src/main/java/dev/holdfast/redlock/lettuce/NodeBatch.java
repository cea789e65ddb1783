package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.CommandConnection;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.List;

/**
 * Commands on their way to one node, as one message until they reach the connection's pipeline.
 * Lettuce writes each command of a list for itself, with a promise and a buffer, though its
 * handlers take lists.
 */
@SuppressWarnings("NullAway") // each command has its own output, and the batch has none
final class NodeBatch extends Command<String, String, Object> {
  private final List<LettuceConnection.NodeCommand> commands;
  private final CommandConnection<?> connection;

  /**
   * Makes a batch.
   *
   * @param commands in the order in which they are sent
   * @param connection ends if the batch does not reach its pipeline
   */
  NodeBatch(List<LettuceConnection.NodeCommand> commands, CommandConnection<?> connection) {
    super(CommandType.EVALSHA, null);
    this.commands = commands;
    this.connection = connection;
  }

  @Override
  public boolean completeExceptionally(Throwable cause) {
    connection.onEnded(cause);
    return true;
  }

  @Override
  public void cancel() {
    connection.onEnded();
  }

  /** The first handler of a pipeline of our own client's. */
  static final class Opener extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      context.write(message instanceof NodeBatch batch ? batch.commands : message, promise);
    }
  }
}
