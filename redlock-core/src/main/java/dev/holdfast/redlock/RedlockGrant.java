package dev.holdfast.redlock;

import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.Moment;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A lock that a quorum granted, and which nodes may hold a key of it. */
final class RedlockGrant implements Grant {
  private final String name;
  private final String key;
  private final String token;
  private final OptionalLong fencingToken;
  private final Moment validUntil;
  private final @Nullable Moment[] sure;
  private volatile long sent;
  private volatile @Nullable Ballot extension;

  RedlockGrant(
      String name,
      String key,
      String token,
      OptionalLong fencingToken,
      Moment validUntil,
      int nodes,
      long granting,
      long sent) {
    this.name = name;
    this.key = key;
    this.token = token;
    this.fencingToken = fencingToken;
    this.validUntil = validUntil;
    this.sure = new Moment[nodes];
    for (long left = granting; left != 0; left &= left - 1) {
      sure[Long.numberOfTrailingZeros(left)] = validUntil;
    }
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

  /**
   * Whether a node cannot have voted for anybody else since it had the key: it is there, or was
   * lost together with all else, and then the node does not vote. What it answers now, under
   * quarantine, counts.
   */
  synchronized boolean isSure(int node, Moment now) {
    Moment end = sure[node];
    return end != null && now.nanosUntil(end) > 0;
  }

  /**
   * A node has answered an extension, and is sure or not under quarantine.
   *
   * @param end of the life of a key that was extended or put back
   */
  synchronized void heard(int node, Answer answer, Moment end) {
    sure[node] = answer == Answer.MINE || answer == Answer.MISSING ? end : null;
  }

  /** An extension is under way. */
  void extendedBy(Ballot ballot) {
    extension = ballot;
  }

  /**
   * Decides the extension that is under way, if any: what follows must reach each node after it, so
   * that it must send nothing more.
   */
  void abandonExtension() {
    Ballot ballot = extension;
    if (ballot != null) {
      ballot.abandon();
    }
  }

  long sent() {
    return sent;
  }

  /** Extensions follow one another, and a release the last of them: visibility is enough. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  void sentTo(long nodes) {
    sent |= nodes;
  }
}
