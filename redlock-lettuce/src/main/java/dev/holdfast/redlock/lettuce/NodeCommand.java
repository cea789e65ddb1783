package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.EncodedRound;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;

/** A round's command on its way to one node. Its completion, on any thread, is the answer. */
final class NodeCommand extends Command<String, String, Object> {
  private final EncodedRound<byte[]> round;
  private final LettuceConnection connection;

  /** Makes a command whose type is for statistics of the user's own client alone. */
  NodeCommand(EncodedRound<byte[]> round, LettuceConnection connection) {
    super(CommandType.EVALSHA, new ReplyOutput());
    this.round = round;
    this.connection = connection;
  }

  @Override
  public void complete() {
    status = ST_COMPLETED;
    String error = getError();
    if (error != null) {
      connection.commands().onError(round, error);
    } else {
      connection.commands().onReply(round, get());
    }
  }

  @Override
  public boolean completeExceptionally(Throwable cause) {
    status = ST_COMPLETED;
    connection.commands().onFailure(round, cause);
    return true;
  }

  @Override
  public void cancel() {
    completeExceptionally(connection.end());
  }

  @Override
  public void encode(ByteBuf buf) {
    buf.writeBytes(round.command());
  }
}
