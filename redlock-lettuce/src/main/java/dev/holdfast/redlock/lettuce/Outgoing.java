package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.Round;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** A round that waits to be sent, with its command as bytes, which all of its nodes share. */
final class Outgoing {
  private static final byte[] CRLF = {'\r', '\n'};

  private final Round round;
  private final byte[] wire;

  Outgoing(Round round) {
    this.round = round;
    this.wire = encode(round.command().words());
  }

  Round round() {
    return round;
  }

  void writeTo(ByteBuf buffer) {
    buffer.writeBytes(wire);
  }

  private static byte[] encode(List<String> words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    writeLength(out, '*', words.size());
    for (String word : words) {
      byte[] bytes = word.getBytes(UTF_8);
      writeLength(out, '$', bytes.length);
      out.writeBytes(bytes);
      out.writeBytes(CRLF);
    }
    return out.toByteArray();
  }

  private static void writeLength(ByteArrayOutputStream out, char type, int length) {
    out.write(type);
    out.writeBytes(Integer.toString(length).getBytes(UTF_8));
    out.writeBytes(CRLF);
  }
}
