package dev.holdfast.redlock.lettuce;

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
  private final List<NodeCommand> commands;

  /**
   * Makes a batch.
   *
   * @param commands in the order in which they are sent
   */
  NodeBatch(List<NodeCommand> commands) {
    super(CommandType.EVALSHA, null);
    this.commands = commands;
  }

  /** At the entrance of a pipeline of our own client's. */
  static final class Opener extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      context.write(message instanceof NodeBatch batch ? batch.commands : message, promise);
    }
  }

  /** Refused before it reached the pipeline. */
  @Override
  public boolean completeExceptionally(Throwable cause) {
    commands.forEach(command -> command.completeExceptionally(cause));
    return true;
  }

  @Override
  public void cancel() {
    commands.forEach(NodeCommand::cancel);
  }

  @Override
  public boolean isDone() {
    return commands.stream().allMatch(NodeCommand::isDone);
  }
}
