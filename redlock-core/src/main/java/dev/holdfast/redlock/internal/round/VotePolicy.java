package dev.holdfast.redlock.internal.round;

import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.internal.vote.VoteReader;
import dev.holdfast.redlock.spi.Command;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads the votes of one round and decides when they suffice. Its methods do not block. */
public interface VotePolicy extends VoteReader {
  /** Tells whether the votes so far decide the round. */
  boolean isDecided(Tally tally);

  /** Tells whether listeners learn of the votes: they are those of an attempt or an extension. */
  default boolean isObserved() {
    return false;
  }

  /** Tells whether the vote of a node counts although the node is in quarantine. */
  default boolean trustsQuarantined(int node) {
    return false;
  }

  /**
   * Receives each quarantine that a node reports, before the vote of that node is counted or
   * dropped. Also called after the decision.
   */
  default void onQuarantine(int node, Quarantine quarantine) {}

  /**
   * Receives each vote, counted or not, except the votes of quarantined nodes that are not trusted.
   */
  default void onVote(int node, Vote vote) {}

  /** Receives each node that gave no vote. */
  default void onFailure(int node) {}

  /** Tells whether a node that lacks the script gets its source even after the decision. */
  default boolean sendsSourceAfterDecision() {
    return false;
  }

  /**
   * Returns the command that gives the script's source to a node that lacks it, once the round is
   * decided without that node. The command touches no lock. Without it, a node that always answers
   * last would never know the script.
   *
   * @return null for no such command
   */
  default @Nullable Command teachingCommand() {
    return null;
  }

  /** Returns a policy with the defaults. */
  static VotePolicy of(VoteReader reader, Predicate<Tally> decided) {
    return new VotePolicy() {
      @Override
      public @Nullable Vote read(int node, @Nullable Object reply) {
        return reader.read(node, reply);
      }

      @Override
      public boolean isDecided(Tally tally) {
        return decided.test(tally);
      }
    };
  }
}
