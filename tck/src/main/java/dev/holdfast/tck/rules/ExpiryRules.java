package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a lock keeps others out: for its ttl, or for as long as was asked for at least. */
public abstract class ExpiryRules {
  final TckFixture fixture;

  public ExpiryRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails(
      "check that the ttl is set in the same step as the lock, and from the time of asking")
  void aLockThatNobodyReleasesCanBeGotByOthersButNotWhileItIsValid() {
    String name = fixture.name("abandoned");
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, name, fixture.briefTtl());
    long end = System.nanoTime() + lease.remaining().toNanos();

    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - end))
        .as("time from the end of its validity to the next grant")
        .isPositive();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that a lock ends without its holder, which may be gone")
  void theLockOfAHolderThatIsGoneEnds() {
    String name = fixture.name("gone");
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    fixture.take(locks, name, fixture.briefTtl());

    locks.close();

    fixture.soon().until("others get the lock", () -> fixture.gets(other, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that each node drops a lock after its ttl, but not before its validity ends")
  void eachNodeKeepsALockForItsTtlAndNoLonger() {
    fixture.needsNodes(1);
    String name = fixture.name("kept");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    fixture
        .soon()
        .until(
            "a quorum holds the lock",
            () -> fixture.holding(name, lease.token()) >= fixture.quorum());

    for (TckNode node : fixture.nodes()) {
      if (node.holder(name).isPresent()) {
        long before = System.nanoTime();
        Duration valid = lease.remaining();
        Duration kept = node.timeToLive(name);
        Duration between = Duration.ofNanos(System.nanoTime() - before).plusMillis(1);

        assertThat(kept)
            .as("time to live on %s", node.address())
            .isLessThanOrEqualTo(fixture.ttl().plusMillis(1))
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
    fixture.needsExpiry();
    String name = fixture.name("at-least");
    Duration atLeast = fixture.briefTtl();
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    long asked = System.nanoTime();
    Lease lease = fixture.take(locks, LockRequest.of(name, fixture.ttl()).holdAtLeast(atLeast));

    TckFixture.regardless(lease::release);
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
    String name = fixture.name("at-least");
    LockManager locks = fixture.open();
    Lease lease =
        fixture.take(locks, LockRequest.of(name, fixture.ttl()).holdAtLeast(fixture.ttl()));

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(locks, name)).as("granted to the same manager").isFalse();
  }

  /** Gets a lock as soon as it is free, asking no more often than needed. */
  private void awaitGot(LockManager locks, String name) {
    fixture.awaitFree(name);
    fixture.soon().until("others get the lock", () -> fixture.gets(locks, name));
  }
}
