package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockCapability;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The rule that calls are right whatever came before them. The other rules look at one call and one
 * value at a time, after a history that they choose. These look at random histories, in which calls
 * that are right alone meet.
 */
public abstract class HistoryRules {
  /** Faults of a minority, in spite of which each call is right. */
  private static final List<TckFault> FAULTS =
      List.of(
          TckFault.FROZEN,
          TckFault.DEAD,
          TckFault.REFUSING,
          TckFault.CUT,
          TckFault.SUBSCRIPTIONS_CUT,
          TckFault.SCRIPTS_FORGOTTEN,
          TckFault.EMPTIED);

  /** Stragglers cost each call this time. */
  private static final String[] HASTY = {"nodeTimeout=10ms", "quorumTimeout=3s"};

  final TckFixture fixture;

  public HistoryRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-24")
  @IfThisFails(
      "check what is kept from call to call: counters, caches, pools, what is known of names")
  void callsAreRightWhateverCameBefore() {
    Needs.of(fixture, LockCapability.OWNER_SAFE_RELEASE); // the lock of a history has one owner
    if (fixture.nodes().isEmpty() && fixture.declares(LockCapability.FAULT_TOLERANT)) {
      abort("a command that reaches one of several nodes late looks like a mistake, unseen");
    }
    new History(fixture, fixture.nodes()).run();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-24")
  @IfThisFails(
      "check what is kept of nodes that failed: late replies, connections, pending releases")
  void callsAreRightWhateverCameBeforeWhileAMinorityFails() {
    Needs.of(fixture, LockCapability.OWNER_SAFE_RELEASE);
    Needs.nodes(fixture, 3);
    Needs.nodeOptions(fixture);
    List<TckNode> failing = fixture.minority();
    List<TckFault> faults =
        FAULTS.stream().filter(fault -> Faults.areKnown(fixture, fault)).toList();
    if (faults.isEmpty()) {
      abort("this environment's nodes have none of the faults " + FAULTS);
    }

    new History(fixture, fixture.nodesBut(failing), HASTY).runWhileFailing(failing, faults);
  }
}
