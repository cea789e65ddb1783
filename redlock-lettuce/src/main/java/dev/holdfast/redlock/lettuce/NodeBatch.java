package dev.holdfast.redlock.lettuce;

import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Commands on their way to one node, as one message until they reach the connection's pipeline.
 * Lettuce writes each command of a list for itself, with a promise and a buffer, though its
 * handlers take lists.
 *
 * @param commands in the order in which they are sent
 */
record NodeBatch(List<NodeCommand> commands) implements RedisCommand<String, String, Object> {

  /** At the entrance of a pipeline of our own client's. */
  static final class Opener extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      if (message instanceof NodeBatch batch) {
        context.write(batch.commands, promise);
      } else {
        context.write(message, promise);
      }
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

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public ProtocolKeyword getType() {
    return CommandType.EVALSHA;
  }

  @Override
  public @Nullable CommandArgs<String, String> getArgs() {
    return null;
  }

  /** Each command has its own. */
  @Override
  public @Nullable CommandOutput<String, String, Object> getOutput() {
    return null;
  }

  @Override
  public void setOutput(CommandOutput<String, String, Object> output) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void complete() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void encode(ByteBuf buffer) {
    throw new UnsupportedOperationException();
  }
}
