package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.Round;

/** A round that waits to be sent, with its command as bytes, which all of its nodes share. */
final class EncodedRound {
  final byte[] bytes;
  private final Round round;

  EncodedRound(Round round) {
    this.round = round;
    this.bytes = round.command().encoded();
  }

  Round round() {
    return round;
  }
}
