package dev.holdfast.redlock.lettuce;

import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A round's command on its way to one node. Whoever completes it first votes, on that thread. */
final class NodeCommand implements RedisCommand<String, String, Object> {
  private final Outgoing outgoing;
  private final int node;
  private final NodeConnection connection;
  private final AtomicBoolean done = new AtomicBoolean();
  private CommandOutput<String, String, Object> output = new ReplyOutput();

  NodeCommand(Outgoing outgoing, int node, NodeConnection connection) {
    this.outgoing = outgoing;
    this.node = node;
    this.connection = connection;
    connection.begun();
  }

  @Override
  public void complete() {
    if (!done.compareAndSet(false, true)) {
      return;
    }
    String error = output.getError();
    try {
      if (error != null) {
        outgoing.round().error(node, error);
      } else {
        outgoing.round().reply(node, output.get());
      }
    } finally {
      connection.answered();
    }
  }

  /** A connection on which a command failed may give its reply to the next one: it is dropped. */
  @Override
  public boolean completeExceptionally(Throwable cause) {
    if (!done.compareAndSet(false, true)) {
      return false;
    }
    connection.drop();
    try {
      outgoing.round().failure(node, cause);
    } finally {
      connection.answered();
    }
    return true;
  }

  @Override
  public void cancel() {
    completeExceptionally(connection.end());
  }

  @Override
  public void encode(ByteBuf buf) {
    outgoing.writeTo(buf);
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
    return done.get();
  }
}
