package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an operator sees of a lock, and can do to it. */
abstract class InspectionRules {
  /** What a test may take between two looks. */
  private static final Duration SLACK = Duration.ofSeconds(10);

  final Trial trial;

  InspectionRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect is empty where nobody holds, before a grant and after a release")
  void nobodyIsSeenWhereNobodyHolds() throws InterruptedException {
    String name = trial.name("nobody");
    LockManager locks = trial.open();

    assertThat(locks.inspect(name)).isEmpty();

    Attempts.giveBack(trial, trial.take(locks, name, trial.ttl()));
    trial.soon().until("the lock was seen to be free", () -> locks.inspect(name).isEmpty());
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect is empty when the time of a lock is over")
  void nobodyIsSeenWhenALockHasExpired() throws InterruptedException {
    trial.needsExpiry();
    String name = trial.name("expired");
    LockManager locks = trial.openForShortTtl();
    trial.take(locks, name, trial.briefTtl());

    trial.soon().until("the lock was seen to be free", () -> locks.inspect(name).isEmpty());
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check which label is kept with a lock: the request's, else the manager's")
  void theOwnerIsSeenByItsLabel() throws InterruptedException {
    LockManager operator = trial.open();
    LockManager worker = trial.open("owner=worker 7");
    String byManager = trial.name("by-manager");
    String byRequest = trial.name("by-request");
    String byProcess = trial.name("by-process");
    trial.take(worker, byManager, trial.ttl());
    trial.take(worker, requestOf(byRequest).owner("batch: 8"));
    trial.take(operator, byProcess, trial.ttl());

    assertThat(seen(operator, byManager).owner()).isEqualTo("worker 7");
    assertThat(seen(operator, byRequest).owner()).isEqualTo("batch: 8");
    assertThat(seen(worker, byProcess).owner())
        .as("host:pid")
        .endsWith(":" + ProcessHandle.current().pid());
    assertThat(seen(worker, byProcess).name()).isEqualTo(byProcess);
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows what a lock has left, not what it was asked for with")
  void theTimeThatIsLeftIsSeenToPass() throws InterruptedException {
    String name = trial.name("passing");
    LockManager operator = trial.open();
    trial.take(trial.open(), name, trial.ttl());

    Duration first = seen(operator, name).remaining();

    assertThat(first).isBetween(trial.ttl().minus(SLACK), trial.ttl());
    trial
        .soon()
        .until(
            "less was left",
            () -> seen(operator, name).remaining().compareTo(first.minusMillis(20)) < 0);
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect asks all nodes, and counts those that hold this owner's token")
  void theNodesThatAgreeAreCounted() throws InterruptedException {
    trial.needsNodes(1);
    String name = trial.name("counted");
    LockManager operator = trial.open();
    trial.takeOnAll(trial.open(), name, trial.ttl());

    assertThat(seen(operator, name).nodes()).isEqualTo(trial.nodes().size());
    assertThat(seen(operator, name).agreeing()).isEqualTo(trial.nodes().size());

    for (int missing = 1; missing <= trial.minority().size(); missing++) {
      trial.node(missing - 1).remove(name);
      assertThat(seen(operator, name).agreeing()).isEqualTo(trial.nodes().size() - missing);
    }
    trial.occupy(trial.minority(), name);
    assertThat(seen(operator, name).agreeing())
        .as("others' tokens do not agree")
        .isEqualTo(trial.quorum());
    assertThat(seen(operator, name).nodes()).isEqualTo(trial.nodes().size());
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check what forceRelease tells of a lock that nobody holds")
  void forceReleaseOfAFreeLockIsFalse() {
    assertThat(trial.open().forceRelease(trial.name("free"))).isFalse();
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes the lock from all nodes, whosever it is")
  void forceReleaseFreesTheNameAndSaysSo() throws InterruptedException {
    String name = trial.name("forced");
    LockManager operator = trial.open();
    trial.takeOnAll(trial.open(), name, trial.ttl());

    assertThat(operator.forceRelease(name)).isTrue();

    Attempts.awaitFree(trial, name);
    assertThat(operator.forceRelease(name)).as("there is nothing left").isFalse();
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails(
      "check that forceRelease takes its name for a name, not for a beginning or a pattern")
  void forceReleaseFreesNoOtherName() throws InterruptedException {
    String name = trial.name("forced");
    LockManager holder = trial.open();
    trial.take(holder, name, trial.ttl());
    List<Lease> others = new ArrayList<>();
    for (String other : List.of(name + "-1", name + "x", name.substring(1), "x" + name)) {
      others.add(trial.take(holder, other, trial.ttl()));
    }

    for (String forced : List.of(name, name.replace("forced", "*"), name.replace('f', '?'))) {
      Trial.regardless(() -> trial.open().forceRelease(forced));
    }

    LockManager another = trial.open();
    for (Lease other : others) {
      assertThat(other.isHeld() && !trial.gets(another, other.name()))
          .as("'%s' is held", other.name())
          .isTrue();
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes what other libraries have put there, too")
  void forceReleaseFreesWhatSomebodyElseHolds() throws InterruptedException {
    trial.needsNodes(1);
    String name = trial.name("foreign");
    Rival.holding(trial, name);

    assertThat(trial.open().forceRelease(name)).isTrue();

    trial.awaitFree(name);
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check what the holder is told who finds no token where its own was")
  void theHolderSeesThatItsLockWasRemoved() throws InterruptedException {
    trial.needs(LockCapability.EXTENSION);
    String name = trial.name("removed");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    Trial.regardless(() -> trial.open().forceRelease(name));
    Attempts.awaitFree(trial, name);

    assertThat(lossSeenBy(lease)).isEqualTo(LossReason.REMOVED);
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check what the holder is told who finds another's token where its own was")
  void theHolderSeesThatSomebodyElseWasFaster() throws InterruptedException {
    trial.needs(LockCapability.EXTENSION);
    String name = trial.name("taken");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    Trial.regardless(() -> trial.open().forceRelease(name));
    Attempts.awaitFree(trial, name);
    Rival.holding(trial, name);

    assertThat(lossSeenBy(lease)).isEqualTo(LossReason.TAKEN);
  }

  /** Leaves the test out if the holder sees none, which is the extension's. */
  private LossReason lossSeenBy(Lease lease) {
    try {
      lease.extend(trial.ttl());
    } catch (LockLostException lost) {
      return lost.reason();
    } catch (LockException another) {
      return abort("the extension said " + another);
    }
    return abort("a lock that was removed was extended");
  }

  private LockRequest requestOf(String name) {
    return LockRequest.of(name, trial.ttl());
  }

  private static LockStatus seen(LockManager operator, String name) {
    return operator.inspect(name).orElseThrow(() -> new AssertionError(name + " is held"));
  }
}
