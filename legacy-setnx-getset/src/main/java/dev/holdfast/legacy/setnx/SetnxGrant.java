package dev.holdfast.legacy.setnx;

import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Grant;
import java.util.OptionalLong;

/** A lock that was granted, and the stamp that we have written into it. */
final class SetnxGrant implements Grant {
  private final String name;
  private final String key;
  private final String token;
  private final ClockReading validUntil;
  private final SerialTasks line = new SerialTasks();
  private volatile Stamp stamp;
  private volatile boolean gone;
  private volatile boolean released;

  SetnxGrant(String name, String key, Stamp stamp, ClockReading validUntil) {
    this.name = name;
    this.key = key;
    this.token = stamp.text();
    this.validUntil = validUntil;
    this.stamp = stamp;
  }

  @Override
  public String name() {
    return name;
  }

  /** The stamp, which is all that there is: others may have the same. */
  @Override
  public String token() {
    return token;
  }

  @Override
  public OptionalLong fencingToken() {
    return OptionalLong.empty();
  }

  @Override
  public ClockReading validUntil() {
    return validUntil;
  }

  String key() {
    return key;
  }

  /** The last one that we have written. */
  Stamp stamp() {
    return stamp;
  }

  /**
   * Returns the order of the operations on this grant. These follow one another, so the rest needs
   * only visibility.
   */
  SerialTasks line() {
    return line;
  }

  void rewritten(Stamp later) {
    stamp = later;
  }

  /**
   * Whether the key is not ours any more, as we saw or as we deleted it: a DEL would be another's.
   */
  boolean isGone() {
    return gone;
  }

  void seenGone() {
    gone = true;
  }

  /** Whether a release was asked for, so that an extension in flight writes nothing more. */
  boolean isReleased() {
    return released;
  }

  void released() {
    released = true;
  }
}
