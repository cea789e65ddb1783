package dev.holdfast.redlock;

import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.Moment;
import java.util.OptionalLong;

/** A lock that a quorum granted, and which nodes may hold a key of it. */
final class RedlockGrant implements Grant {
  private final String name;
  private final String key;
  private final String token;
  private final OptionalLong fencingToken;
  private final Moment validUntil;
  private final long granting;
  private volatile long sent;

  RedlockGrant(
      String name,
      String key,
      String token,
      OptionalLong fencingToken,
      Moment validUntil,
      long granting,
      long sent) {
    this.name = name;
    this.key = key;
    this.token = token;
    this.fencingToken = fencingToken;
    this.validUntil = validUntil;
    this.granting = granting;
    this.sent = sent;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String token() {
    return token;
  }

  @Override
  public OptionalLong fencingToken() {
    return fencingToken;
  }

  @Override
  public Moment validUntil() {
    return validUntil;
  }

  String key() {
    return key;
  }

  /** The nodes (bit i is node i) that held the key before the grant, quarantined ones too. */
  long granting() {
    return granting;
  }

  long sent() {
    return sent;
  }

  /** Operations on a grant follow one another, so this needs no more than visibility. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  void sentTo(long nodes) {
    sent |= nodes;
  }
}
