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

  /**
   * Returns the stamp of the grant, which is all that the lock has. Other clients may have written
   * the same stamp.
   */
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

  /** Returns the last stamp that this grant has written. */
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
   * Returns whether the key is known to be lost or deleted. A DEL would then delete another owner's
   * lock.
   */
  boolean isGone() {
    return gone;
  }

  void seenGone() {
    gone = true;
  }

  /** Returns whether a release was requested. An extension in flight then writes nothing more. */
  boolean isReleased() {
    return released;
  }

  void released() {
    released = true;
  }
}
