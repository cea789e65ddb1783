package dev.holdfast.legacy.setnx;

import static dev.holdfast.legacy.setnx.Fleet.KEY;
import static dev.holdfast.legacy.setnx.HandClock.stamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A release: when it deletes the key, and when it does not. */
class SetnxReleaseTest {
  /** The stamp of a hold of ten seconds that began three tenths of a second after the start. */
  private static final String STAMP = stamp(11);

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);

  @Test
  @Rule("LOSS-4")
  @DisplayName("a release that finds no key reports a removed lock")
  void releaseReportsARemovedLock() throws InterruptedException {
    Lease lease = Fleet.take(fleet.manager(clock), "orders");
    fleet.say("DEL", KEY);

    assertThat(lease.release()).isFalse();
    assertThatThrownBy(lease::requireHeld).hasMessageContaining("REMOVED");
  }

  @Test
  void aReleaseAfterItsStampDeletesNothing() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    clock.pass(Duration.ofMillis(10_700));

    assertThat(Fleet.released(locks, grant))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(Optional.of(LossReason.EXPIRED));
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
  }

  @Test
  void aReleaseJustBeforeItsStampDeletes() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    clock.pass(Duration.ofMillis(10_699));

    assertThat(Fleet.released(locks, grant))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(Optional.empty());
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void releaseIsNotSentAgainAfterItsConnectionBreaks() throws InterruptedException {
    InterceptingProxy proxy = fleet.proxy();
    LockManager locks = fleet.manager(proxy, clock);
    Lease lease = Fleet.take(locks, "orders");
    proxy.loseReplyTo("DEL");

    LockOutageException outage = catchThrowableOfType(LockOutageException.class, lease::release);
    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
    fleet.say("SETNX", KEY, STAMP);
    locks.close(); // when all has been sent

    assertThat(outage.isOutcomeUnknown()).isTrue();
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
    assertThat(proxy.commandsAbout(KEY)).last().isEqualTo("DEL " + KEY);
  }

  @Test
  @Rule("REL-2")
  @DisplayName("releases that a frozen server delayed are all sent")
  void releasesDelayedByAFrozenServerAreSent() throws InterruptedException {
    LockManager locks =
        fleet.manager(clock, settings -> settings.quorumTimeout(Duration.ofMillis(200)));
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      leases.add(locks.acquire("held-" + i, Fleet.TTL));
    }
    NODE.freeze();
    try {
      List<? extends CompletableFuture<Boolean>> releases =
          leases.stream().map(Lease::releaseAsync).toList();
      releases.forEach(
          release ->
              assertThat(release)
                  .failsWithin(5, TimeUnit.SECONDS)
                  .withThrowableOfType(ExecutionException.class)
                  .withCauseInstanceOf(LockOutageException.class));
    } finally {
      NODE.thaw();
    }

    await().untilAsserted(() -> assertThat(fleet.say("KEYS", "lock.*")).isEqualTo(List.of()));
  }

  @Test
  @Rule("REL-4")
  @DisplayName("a release that is not answered is an outage whose outcome is unknown")
  void aReleaseThatIsNotAnsweredIsAnOutage() throws InterruptedException {
    LockManager locks =
        fleet.manager(clock, settings -> settings.quorumTimeout(Duration.ofMillis(200)));
    Lease lease = Fleet.take(locks, "orders");
    NODE.freeze();
    LockOutageException outage;
    try {
      outage = catchThrowableOfType(LockOutageException.class, lease::release);
    } finally {
      NODE.thaw();
    }

    assertThat(outage)
        .hasMessage(
            "the server did not answer the release of 'orders': "
                + NODE.address()
                + ": no answer within 200 ms");
    assertThat(outage.isOutcomeUnknown()).isTrue();
    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
  }

  @Test
  void aLockThatWasExtendedIsReleasedUntilItsNewStamp() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    clock.pass(Duration.ofSeconds(4));
    assertThat(Fleet.answered(Fleet.extended(locks, grant))).isInstanceOf(Extended.class);
    clock.pass(Duration.ofSeconds(8)); // the first stamp has passed

    assertThat(Fleet.answered(Fleet.released(locks, grant))).isEmpty();
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void releaseAfterALostExtensionDeletesNothing() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    fleet.say("DEL", KEY);
    assertThat(Fleet.answered(Fleet.extended(locks, grant)))
        .isEqualTo(new Lost(LossReason.REMOVED));
    fleet.say("SETNX", KEY, stamp(60));

    Fleet.answered(Fleet.released(locks, grant));

    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(60));
  }

  @Test
  void secondReleaseDoesNotDeleteTheNextOwnersKey() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    assertThat(Fleet.answered(Fleet.released(locks, grant))).isEmpty();
    fleet.say("SETNX", KEY, stamp(60));

    Fleet.answered(Fleet.released(locks, grant));

    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(60));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("an extension that a release follows writes nothing more")
  void anExtensionThatAReleaseFollowsWritesNothingMore() {
    InterceptingProxy proxy = fleet.proxy();
    LockManager locks = fleet.manager(proxy, clock);
    SetnxGrant grant = Fleet.granted(locks);
    CountDownLatch arrives = new CountDownLatch(1);
    proxy.before("GET", () -> InterceptingProxy.passed(arrives));
    CompletableFuture<Extension> extension = Fleet.extended(locks, grant);

    CompletableFuture<Optional<LossReason>> release = Fleet.released(locks, grant);
    arrives.countDown();

    assertThat(Fleet.answered(release)).isEmpty();
    assertThat(extension).isCompletedWithValue(new Lost(LossReason.REMOVED));
    assertThat(proxy.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY, "DEL " + KEY);
  }

  @Test
  void releaseDoesNotOvertakeAnAbandonedExtension() {
    InterceptingProxy proxy = fleet.proxy();
    LockManager locks =
        fleet.manager(proxy, clock, settings -> settings.quorumTimeout(Duration.ofMillis(250)));
    SetnxGrant grant = Fleet.granted(locks);
    CountDownLatch arrives = new CountDownLatch(1);
    proxy.before("GETSET", () -> InterceptingProxy.passed(arrives));
    assertThat(Fleet.extended(locks, grant)).failsWithin(5, TimeUnit.SECONDS);

    CompletableFuture<Optional<LossReason>> release = Fleet.released(locks, grant);
    assertThat(release).failsWithin(5, TimeUnit.SECONDS); // it waits for the GETSET, for 1 s
    assertThat(proxy.commandsAbout(KEY)).last().asString().startsWith("GETSET ");
    arrives.countDown();

    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
  }
}
