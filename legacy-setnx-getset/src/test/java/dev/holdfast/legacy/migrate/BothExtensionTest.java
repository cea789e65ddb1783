package dev.holdfast.legacy.migrate;

import static dev.holdfast.legacy.migrate.ScriptedPrimitive.failing;
import static dev.holdfast.legacy.migrate.ScriptedPrimitive.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockListener.Vote;
import dev.holdfast.LockNode;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.NodeObserver;
import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The extension of two locks: one of them can fail while the other does not. */
class BothExtensionTest {
  private final TwoLocks locks = new TwoLocks();
  private final List<String> journal = locks.journal;
  private final ScriptedPrimitive ofOld = locks.ofOld;
  private final ScriptedPrimitive ofNew = locks.ofNew;

  @Test
  @DisplayName("extends the new lock, then the old one, up to the earlier end")
  void extendsTheNewLockFirst() {
    Grant grant = locks.granted();
    ofNew.extend = () -> now(new Extended(locks.in(30)));
    ofOld.extend = () -> now(new Extended(locks.in(20)));

    assertThat(locks.extended(grant)).isEqualTo(new Extended(locks.in(20)));
    assertThat(journal).containsExactly("new extend", "old extend");
  }

  @Test
  @Rule("LISTEN-12")
  @DisplayName("reports the vote of each lock that was asked, on attempts and extensions alike")
  void reportsTheVoteOfEachLock() {
    List<Vote> votes = new ArrayList<>();
    locks.both.observe(new Votes(votes));
    Grant grant = locks.granted();
    assertThat(votes).containsExactly(Vote.GRANTED, Vote.GRANTED);

    locks.extended(grant);
    assertThat(votes.subList(2, votes.size())).containsExactly(Vote.GRANTED, Vote.GRANTED);

    ofOld.extend = failing(locks.outage);
    assertThatThrownBy(() -> locks.extended(grant)).cause().isSameAs(locks.outage);
    assertThat(votes.subList(4, votes.size())).containsExactly(Vote.GRANTED, Vote.SILENT);

    ofNew.extend = () -> now(new Lost(LossReason.TAKEN));
    locks.extended(grant);
    assertThat(votes.subList(6, votes.size())).containsExactly(Vote.REFUSED);
  }

  @Test
  @DisplayName("is a loss when the new lock is lost, and does not keep old clients out for longer")
  void isALossWhenTheNewLockIsLost() {
    Grant grant = locks.granted();
    ofNew.extend = () -> now(new Lost(LossReason.TAKEN));

    assertThat(locks.extended(grant)).isEqualTo(new Lost(LossReason.TAKEN));
    assertThat(journal).containsExactly("new extend");
  }

  @Test
  @DisplayName("is a loss when the old lock is lost")
  void isALossWhenTheOldLockIsLost() {
    Grant grant = locks.granted();
    ofOld.extend = () -> now(new Lost(LossReason.REMOVED));

    assertThat(locks.extended(grant)).isEqualTo(new Lost(LossReason.REMOVED));
  }

  @Test
  @DisplayName("is an outage when no node answers for the new lock, and the old one is not asked")
  void isAnOutageOfTheNewLock() {
    Grant grant = locks.granted();
    ofNew.extend = failing(locks.outage);

    assertThatThrownBy(() -> locks.extended(grant)).cause().isSameAs(locks.outage);
    assertThat(journal).containsExactly("new extend");
  }

  @Test
  @DisplayName("is an outage when no node answers for the old lock")
  void isAnOutageOfTheOldLock() {
    Grant grant = locks.granted();
    ofOld.extend = failing(locks.outage);

    assertThatThrownBy(() -> locks.extended(grant)).cause().isSameAs(locks.outage);
  }

  /** Notes votes. */
  private record Votes(List<Vote> seen) implements NodeObserver {
    @Override
    public boolean isActive() {
      return true;
    }

    @Override
    public void onVote(String node, Vote vote) {
      seen.add(vote);
    }

    @Override
    public void onNode(String node, LockNode.State state, String cause) {}
  }
}
