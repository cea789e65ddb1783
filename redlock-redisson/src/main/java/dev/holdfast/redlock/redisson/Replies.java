package dev.holdfast.redlock.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import org.redisson.client.handler.CommandDecoder;
import org.redisson.client.handler.State;
import org.redisson.client.protocol.CommandData;

/**
 * Reads two kinds of replies as Redis wrote them: an error, to which Redisson would append the
 * command with all its arguments, or whose code it would cut off, and an array that is nil, which
 * it would take for an empty one.
 */
final class Replies extends CommandDecoder {
  /** An error reply: its message is the text. */
  static final class ErrorReply extends RedisException {
    private static final long serialVersionUID = 1L;

    ErrorReply(String text) {
      super(text);
    }
  }

  Replies() {
    super("redis"); // for addresses in errors that name another node, none of which is followed
  }

  /** Decodes once the whole reply has come. */
  @Override
  protected void decode(
      ByteBuf in,
      @Nullable CommandData<Object, Object> command,
      @Nullable List<@Nullable Object> around,
      Channel channel,
      boolean skipConvertor,
      @Nullable List<CommandData<?, ?>> commands,
      long size,
      State state)
      throws IOException {
    int start = in.readerIndex();
    byte type = in.getByte(start);
    if (type == '-') {
      ErrorReply error = new ErrorReply(line(in));
      if (command == null) {
        throw error;
      }
      command.tryFailure(error);
    } else if (type == '*' && in.getByte(start + 1) == '-') {
      line(in);
      if (around != null) {
        around.add(null);
      } else {
        completeResponse(command, null);
      }
    } else {
      super.decode(in, command, around, channel, skipConvertor, commands, size, state);
    }
  }

  /** Reads a line, without its type. */
  private static String line(ByteBuf in) {
    in.skipBytes(1);
    String text = in.readCharSequence(in.bytesBefore((byte) '\r'), UTF_8).toString();
    in.skipBytes(2);
    return text;
  }
}
