package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.Round;

/** A round that is to be sent, with its command as it goes over the wire. */
final class Request {
  final Round round;
  final byte[] bytes;

  Request(Round round) {
    this.round = round;
    this.bytes = round.command().encoded();
  }
}
