package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.Round;

/** A round that must be sent, with its command as it goes over the wire. */
final class EncodedRound {
  final Round round;
  final byte[] bytes;

  EncodedRound(Round round) {
    this.round = round;
    this.bytes = round.command().encoded();
  }
}
