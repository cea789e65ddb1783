package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.NodeSet;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A lock that a quorum granted, with the nodes that may hold a key of it. */
final class RedlockGrant implements Grant {
  private final String name;
  private final String key;
  private final String token;
  private final OptionalLong fencingToken;
  private final ClockReading validUntil;

  /**
   * The time, for each node, until which it surely has the key, or null if it may not have the key.
   */
  private final @Nullable ClockReading[] sureUntil;

  private final byte votes;
  private final byte margin;
  private volatile NodeSet sent;
  private volatile @Nullable QuorumCall extension;

  RedlockGrant(
      String name,
      String key,
      String token,
      OptionalLong fencingToken,
      ClockReading validUntil,
      Tally tally,
      NodeSet sent) {
    this.name = name;
    this.key = key;
    this.token = token;
    this.fencingToken = fencingToken;
    this.validUntil = validUntil;
    this.votes = (byte) tally.granted();
    this.margin = (byte) tally.margin();
    this.sureUntil = new ClockReading[tally.nodes()];
    tally.mine().forEach(node -> sureUntil[node] = validUntil);
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
  public ClockReading validUntil() {
    return validUntil;
  }

  @Override
  public int votes() {
    return votes;
  }

  @Override
  public int margin() {
    return margin;
  }

  String key() {
    return key;
  }

  /**
   * Tells whether a node cannot have voted for another owner since it had the key. Either the key
   * is there, or it was lost with all other data, and then the node does not vote. The answer of
   * such a node counts although the node is in quarantine.
   */
  synchronized boolean isSure(int node, ClockReading now) {
    ClockReading end = sureUntil[node];
    return end != null && now.nanosUntil(end) > 0;
  }

  /**
   * Notes the vote on an extension by a node that is sure or not in quarantine.
   *
   * @param end the end of the life of a key that was extended or put back
   */
  synchronized void onExtensionVote(int node, Vote vote, ClockReading end) {
    sureUntil[node] = vote == Vote.MINE || vote == Vote.MISSING ? end : null;
  }

  /** Notes the extension that begins. */
  void extendedBy(QuorumCall call) {
    extension = call;
  }

  /**
   * Decides the extension in flight, if there is one. Commands that follow must reach each node
   * after the extension, so it must send nothing more.
   */
  void abandonExtension() {
    QuorumCall call = extension;
    if (call != null) {
      call.abandon();
    }
  }

  /** Returns the nodes that were asked for the lock or for an extension. */
  NodeSet sent() {
    return sent;
  }

  /**
   * Adds nodes that were asked for an extension. Extensions follow one another and a release
   * follows the last of them, so visibility is enough.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  void sentTo(NodeSet nodes) {
    sent = sent.union(nodes);
  }
}
