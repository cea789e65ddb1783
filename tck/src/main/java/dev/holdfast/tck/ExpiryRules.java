package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a lock keeps others out: for its ttl, or for as long as was asked for at least. */
abstract class ExpiryRules {
  final Trial trial;

  ExpiryRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails(
      "check that the ttl is set in the same step as the lock, and from the time of asking")
  void aLockThatNobodyReleasesCanBeGotByOthersButNotWhileItIsValid() {
    String name = trial.name("abandoned");
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.openForShortTtl();
    Lease lease = trial.take(locks, name, trial.briefTtl());
    long end = System.nanoTime() + lease.remaining().toNanos();

    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - end))
        .as("time from the end of its validity to the next grant")
        .isPositive();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that it takes nobody to end a lock, because its holder may be gone")
  void theLockOfAHolderThatIsGoneEnds() {
    String name = trial.name("gone");
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();
    trial.take(locks, name, trial.briefTtl());

    locks.close();

    trial.soon().until("others get the lock", () -> trial.gets(other, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that each node drops a lock after its ttl, but not before its validity ends")
  void eachNodeKeepsALockForItsTtlAndNoLonger() {
    trial.needsNodes(1);
    String name = trial.name("kept");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    trial
        .soon()
        .until(
            "a quorum holds the lock", () -> trial.holding(name, lease.token()) >= trial.quorum());

    for (TckNode node : trial.nodes()) {
      if (node.holder(name).isPresent()) {
        long before = System.nanoTime();
        Duration valid = lease.remaining();
        Duration kept = node.timeToLive(name);
        Duration between = Duration.ofNanos(System.nanoTime() - before).plusMillis(1);

        assertThat(kept)
            .as("time to live on %s", node.address())
            .isLessThanOrEqualTo(trial.ttl().plusMillis(1))
            .isGreaterThanOrEqualTo(valid.minus(between));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails(
      "check that an early release shortens the lock to holdAtLeast instead of removing it")
  void whatIsReleasedEarlyKeepsOthersOutForAsLongAsItAskedFor() {
    trial.needsExpiry();
    String name = trial.name("at-least");
    Duration atLeast = trial.briefTtl();
    LockManager locks = trial.open();
    LockManager other = trial.open();
    long asked = System.nanoTime();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.ttl()).holdAtLeast(atLeast));

    Trial.regardless(lease::release);
    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - asked))
        .as("time from the first request to the next grant")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails(
      "check that a manager does not take its own lock for free before holdAtLeast is over")
  void whatIsReleasedEarlyKeepsTheSameManagerOutAsWell() throws InterruptedException {
    String name = trial.name("at-least");
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.ttl()).holdAtLeast(trial.ttl()));

    Trial.regardless(lease::release);

    assertThat(trial.gets(locks, name)).as("granted to the same manager").isFalse();
  }

  /** Gets a lock as soon as it is free, asking no more often than needed. */
  private void awaitGot(LockManager locks, String name) {
    trial.awaitFree(name);
    trial.soon().until("others get the lock", () -> trial.gets(locks, name));
  }
}
