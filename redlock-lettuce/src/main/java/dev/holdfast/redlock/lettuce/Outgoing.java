package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.Round;
import io.netty.buffer.ByteBuf;

/** A round that waits to be sent, with its command as bytes, which all of its nodes share. */
final class Outgoing {
  private final Round round;
  private final byte[] wire;

  Outgoing(Round round) {
    this.round = round;
    this.wire = round.command().encoded();
  }

  Round round() {
    return round;
  }

  void writeTo(ByteBuf buffer) {
    buffer.writeBytes(wire);
  }
}
