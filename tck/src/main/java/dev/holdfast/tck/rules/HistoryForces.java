package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.tck.rules.HistoryLocks.Ended;
import dev.holdfast.tck.rules.HistoryLocks.Stolen;
import dev.holdfast.tck.rules.ModelLock.Damage;
import dev.holdfast.tck.rules.ModelLock.Transferred;

/** The steps of a {@link History} that take a lock from its holder, at once or on some nodes. */
final class HistoryForces {
  private final HistoryLocks locks;
  private final TckFixture fixture;
  private final Seed seed;
  private final HistoryChecks checks;

  HistoryForces(HistoryLocks locks) {
    this.locks = locks;
    this.fixture = locks.fixture;
    this.seed = locks.seed;
    this.checks = locks.checks;
  }

  boolean releasesByForce() {
    ModelLock lock = locks.anyLock();
    int manager = locks.anyManager();
    boolean taken = lock.isTaken();
    boolean known = taken || lock.isFree();
    if (!known || (lock.held().isPresent() && !checks.isOnAllNodes(lock))) {
      return false;
    }
    locks.note(manager + ": releases " + lock + " by force");
    if (!taken) {
      checks.free(lock); // a node may be late to learn the end of a hold
    }
    boolean released = locks.managers.get(manager).forceRelease(lock.name());
    if (taken || (checks.isWellThroughout() && lock.damage == Damage.NONE)) {
      assertThat(released).as("there was a lock").isEqualTo(taken);
    }
    lock.held()
        .ifPresent(
            held -> {
              locks.stolen.add(new Stolen(lock, held.manager(), held.lease()));
              lock.behind.add(held.manager());
            });
    if (lock.state instanceof Transferred transferred) {
      locks.usedTexts.add(transferred.text());
    }
    lock.damage = Damage.NONE;
    locks.freed(lock);
    return true;
  }

  /** Lets the holder of a lock that was released by force find that out. */
  boolean isFound() {
    if (locks.stolen.isEmpty()) {
      return false;
    }
    Stolen lost = locks.stolen.remove(seed.below(locks.stolen.size()));
    locks.note(lost.manager() + ": finds its lease on " + lost.lock() + " lost");
    if (fixture.declares(LockCapability.EXTENSION) && seed.nextBoolean()) {
      assertThatThrownBy(() -> lost.lease().extend(fixture.ttl()))
          .as("the extension of a lease whose lock was released by force")
          .isInstanceOf(LockLostException.class);
    }
    try (Stalls stalls = Stalls.watched()) {
      boolean released = lost.lease().release();
      // Nodes that were cut still hold it. If another one answers too late, no quorum lacks it.
      if (checks.isWellThroughout() || stalls.worst().compareTo(fixture.allowance()) < 0) {
        assertThat(released).as("release() after a forced one").isFalse();
      }
      locks.ended.add(new Ended(lost.lease(), released));
    }
    checks.unchanged(lost.lock());
    return true;
  }

  boolean occupiesAMinority() {
    ModelLock lock = locks.anyLock();
    if (!lock.isFree() || lock.damage != Damage.NONE) {
      return false;
    }
    locks.note("another owner takes a minority of the nodes of " + lock);
    OnNodes.occupy(fixture, fixture.minority(), lock.name());
    lock.damage = Damage.OCCUPIED;
    return true;
  }

  boolean losesAMinority() {
    return locks.onHeld(
        checks::isOnAllNodes,
        (lock, held) -> {
          locks.note("a minority of the nodes loses " + lock);
          fixture.minority().forEach(node -> node.remove(lock.name()));
          lock.damage = Damage.LOST;
        });
  }
}
