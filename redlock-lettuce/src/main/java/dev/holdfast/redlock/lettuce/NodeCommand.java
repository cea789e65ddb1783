package dev.holdfast.redlock.lettuce;

import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** A round's command on its way to one node. Its completion, on any thread, is the answer. */
final class NodeCommand implements RedisCommand<String, String, Object> {
  private final EncodedRound outgoing;
  private final NodeConnection connection;
  private volatile boolean done;
  private CommandOutput<String, String, Object> output = new ReplyOutput();

  NodeCommand(EncodedRound outgoing, NodeConnection connection) {
    this.outgoing = outgoing;
    this.connection = connection;
  }

  @Override
  public void complete() {
    done = true;
    String error = output.getError();
    if (error != null) {
      connection.commands().onError(outgoing, error);
    } else {
      connection.commands().onReply(outgoing, output.get());
    }
  }

  /** A connection on which a command failed may give its reply to the next one: it is dropped. */
  @Override
  public boolean completeExceptionally(Throwable cause) {
    done = true;
    connection.drop();
    connection.commands().onFailure(outgoing, cause);
    return true;
  }

  @Override
  public void cancel() {
    completeExceptionally(connection.end());
  }

  @Override
  public void encode(ByteBuf buf) {
    buf.writeBytes(outgoing.bytes);
  }

  @Override
  public CommandOutput<String, String, Object> getOutput() {
    return output;
  }

  @Override
  public void setOutput(CommandOutput<String, String, Object> output) {
    this.output = output;
  }

  /** For statistics of the user's own client alone: what is sent is in {@link #encode}. */
  @Override
  public ProtocolKeyword getType() {
    return CommandType.EVALSHA;
  }

  @Override
  public @Nullable CommandArgs<String, String> getArgs() {
    return null;
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public boolean isDone() {
    return done;
  }
}
