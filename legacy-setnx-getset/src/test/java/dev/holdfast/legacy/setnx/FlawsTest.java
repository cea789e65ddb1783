package dev.holdfast.legacy.setnx;

import static dev.holdfast.legacy.setnx.Fleet.KEY;
import static dev.holdfast.legacy.setnx.HandClock.stamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * The flaws of the pattern, shown on real servers. docs/legacy.md lists each of these with its
 * commands. Clocks are moved by hand, and what comes between two commands of one client is said by
 * hand at that time: nothing here waits for chance.
 */
class FlawsTest {
  private static final String EXPIRED = stamp(-1);

  @AutoClose private static final TestNodes NODES = TestNodes.start(2);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);

  @Test
  void clientsWhoseClocksAreApartBothHoldTheLock() throws InterruptedException {
    Lease one = Fleet.take(fleet.manager(clock), "orders");

    Lease other = Fleet.take(fleet.manager(clock.ahead(Duration.ofSeconds(12))), "orders");

    assertThat(one.isHeld()).isTrue();
    assertThat(other.isHeld()).isTrue();
  }

  @Test
  void aHolderWhoseClockIsAheadKeepsOthersOutLongAfterItsCrash() throws InterruptedException {
    LockManager wrong = fleet.manager(clock.ahead(Duration.ofHours(1)));
    Fleet.take(wrong, "orders");
    wrong.close();

    clock.pass(Duration.ofMinutes(59));

    assertThat(fleet.manager(clock).tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  void aLosersGetsetOverwritesTheWinnersStamp() throws InterruptedException {
    fleet.say("SETNX", KEY, EXPIRED);
    assertThat(fleet.say("GET", KEY)).as("what the loser sees").isEqualTo(EXPIRED);
    Lease winner = Fleet.take(fleet.manager(clock), "orders");

    String losers = stamp(13);
    assertThat(fleet.say("GETSET", KEY, losers)).as("so it has lost").isEqualTo(winner.token());

    assertThat(fleet.say("GET", KEY)).isEqualTo(losers);
    assertThat(winner.isHeld()).isTrue();
    assertThat(winner.release()).isTrue();
  }

  @Test
  void aLosersShorterStampLetsAThirdInWhileTheWinnerHolds() throws InterruptedException {
    fleet.say("SETNX", KEY, EXPIRED);
    assertThat(fleet.say("GET", KEY)).as("what the loser sees").isEqualTo(EXPIRED);
    Lease winner = Fleet.take(fleet.manager(clock), "orders");
    assertThat(fleet.say("GETSET", KEY, stamp(2))).isEqualTo(winner.token());

    clock.pass(Duration.ofSeconds(3));
    Lease third = Fleet.take(fleet.manager(clock), "orders");

    assertThat(winner.isHeld()).isTrue();
    assertThat(third.isHeld()).isTrue();
  }

  @Test
  void aLosersLongerStampKeepsOthersOutWhenTheWinnerCrashes() throws InterruptedException {
    fleet.say("SETNX", KEY, EXPIRED);
    LockManager crashing = fleet.manager(clock);
    Lease winner = Fleet.take(crashing, "orders");
    assertThat(fleet.say("GETSET", KEY, stamp(100))).isEqualTo(winner.token());
    crashing.close();

    clock.pass(Fleet.TTL.multipliedBy(9));

    assertThat(fleet.manager(clock).tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  void aLateDelRemovesAnotherOwnersLock() throws InterruptedException {
    LockManager paused = fleet.manager(clock, settings -> settings.checkedRelease(false));
    Lease late = Fleet.take(paused, "orders");
    HandClock others = clock.ahead(Duration.ofSeconds(12)); // while the holder is paused
    Lease second = Fleet.take(fleet.manager(others), "orders");
    clock.pass(Duration.ofSeconds(12)); // it goes on

    assertThat(late.release()).isFalse();
    paused.close(); // which waits for the DEL

    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
    Lease third = Fleet.take(fleet.manager(others), "orders");
    assertThat(second.isHeld()).isTrue();
    assertThat(third.isHeld()).isTrue();
  }

  @Test
  void aCheckedReleaseThatComesLateRemovesNothing() throws InterruptedException {
    LockManager paused = fleet.manager(clock);
    Lease late = Fleet.take(paused, "orders");
    HandClock others = clock.ahead(Duration.ofSeconds(12));
    Lease second = Fleet.take(fleet.manager(others), "orders");
    clock.pass(Duration.ofSeconds(12));

    assertThat(late.release()).isFalse();
    paused.close();

    assertThat(fleet.say("GET", KEY)).isEqualTo(second.token());
    assertThat(fleet.manager(others).tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  void aCheckedReleaseByASlowClockRemovesAnotherOwnersLock() throws InterruptedException {
    Lease late = Fleet.take(fleet.manager(clock), "orders");
    HandClock others = clock.ahead(Duration.ofSeconds(12));
    Lease second = Fleet.take(fleet.manager(others), "orders");

    assertThat(late.release()).as("it takes itself for the owner").isTrue();

    Lease third = Fleet.take(fleet.manager(others), "orders");
    assertThat(second.isHeld()).isTrue();
    assertThat(third.isHeld()).isTrue();
  }

  @Test
  void aDelBetweenItsCheckAndItsArrivalRemovesAnotherOwnersLock() throws InterruptedException {
    InterceptingProxy slow = fleet.proxy();
    Lease late = Fleet.take(fleet.manager(slow, clock), "orders");
    HandClock others = clock.ahead(Duration.ofSeconds(12));
    String seconds = stamp(25);
    slow.before( // the check is over, the DEL is on its way
        "DEL", () -> assertThat(fleet.say("GETSET", KEY, seconds)).isEqualTo(late.token()));

    assertThat(late.release()).isTrue();

    assertThat(Fleet.take(fleet.manager(others), "orders").isHeld()).as("a third one").isTrue();
  }

  @Test
  void aReleaseRemovesWhateverAnotherOwnerHasWritten() throws InterruptedException {
    Lease lease = Fleet.take(fleet.manager(clock), "orders");
    fleet.say("SET", KEY, stamp(30));

    assertThat(lease.release()).as("it cannot tell").isTrue();

    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  /** GET, DEL, GETSET: the one who only looked takes the lock from under the one who has it. */
  @Test
  void aDelBetweenGetAndGetsetMakesALoserOverwriteTheNextOwner() throws InterruptedException {
    fleet.say("SETNX", KEY, EXPIRED);
    InterceptingProxy slow = fleet.proxy();
    LockManager loser = fleet.manager(slow, clock);
    String owners = stamp(60);
    slow.before(
        "GETSET",
        () -> {
          fleet.say("DEL", KEY); // the first holder's, late
          assertThat(fleet.say("SETNX", KEY, owners)).isEqualTo(1L);
        });

    assertThat(loser.tryAcquire("orders", Fleet.TTL)).as("it has lost").isEmpty();

    assertThat(fleet.say("GET", KEY)).as("the owner's is gone").isEqualTo(stamp(11));
    clock.pass(Duration.ofSeconds(12)); // the owner has 48 seconds left
    assertThat(Fleet.take(fleet.manager(clock), "orders").isHeld()).isTrue();
  }

  /** The reason why the page says GETSET: two that see the same expired stamp, and DEL it. */
  @Test
  void takingOverByDelAndSetnxLetsTwoIn() {
    fleet.say("SETNX", KEY, EXPIRED);
    assertThat(fleet.say("GET", KEY)).as("one sees").isEqualTo(EXPIRED);
    assertThat(fleet.say("GET", KEY)).as("the other sees").isEqualTo(EXPIRED);

    assertThat(fleet.say("DEL", KEY)).isEqualTo(1L);
    assertThat(fleet.say("SETNX", KEY, stamp(11))).as("one has it").isEqualTo(1L);
    assertThat(fleet.say("DEL", KEY)).isEqualTo(1L);
    assertThat(fleet.say("SETNX", KEY, stamp(11))).as("so has the other").isEqualTo(1L);
  }

  @Test
  void aHolderThatCrashesKeepsOthersOutForItsTtlAndOneUnitMore() throws InterruptedException {
    LockManager crashing = fleet.manager(clock);
    Fleet.take(crashing, "orders");
    crashing.close();
    LockManager others = fleet.manager(clock);

    clock.pass(Fleet.TTL.plusSeconds(1)); // the stamp is of this second, and not older
    assertThat(others.tryAcquire("orders", Fleet.TTL)).isEmpty();
    clock.pass(Duration.ofMillis(700)); // the next second
    assertThat(others.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void aServerThatRestartsEmptyLetsASecondOwnerIn() throws InterruptedException {
    Lease one = Fleet.take(fleet.manager(clock), "orders");

    NODE.restart();
    Lease other = Fleet.take(fleet.manager(clock), "orders");

    assertThat(one.isHeld()).isTrue();
    assertThat(other.isHeld()).isTrue();
  }

  @Test
  void aMasterThatDiesBeforeItsReplicaHasTheKeyLetsASecondOwnerIn() throws InterruptedException {
    TestNode replica = NODES.node(1);
    replica.command("FLUSHALL");
    replica.command("REPLICAOF", NODE.host(), Integer.toString(NODE.port()));
    await()
        .untilAsserted(
            () ->
                assertThat(String.valueOf(replica.command("INFO", "replication")))
                    .contains("master_link_status:up"));
    replica.freeze(); // it is behind,
    fleet.say("CLIENT", "KILL", "TYPE", "replica"); // and no more is sent to it
    try {
      Lease one = Fleet.take(fleet.manager(clock), "orders");
      NODE.kill();
      replica.thaw();
      replica.command("REPLICAOF", "NO", "ONE");

      Lease other = Fleet.take(fleet.manager(replica.uri(), clock, settings -> {}), "orders");

      assertThat(one.isHeld()).isTrue();
      assertThat(other.isHeld()).isTrue();
    } finally {
      replica.thaw();
      replica.command("REPLICAOF", "NO", "ONE");
      NODE.restart();
    }
  }

  @Test
  void twoHoldersInTheSameSecondHaveTheSameStamp() throws InterruptedException {
    Lease one = Fleet.take(fleet.manager(clock), "orders");
    one.release();

    Lease other = Fleet.take(fleet.manager(clock), "orders");

    assertThat(other.token()).isEqualTo(one.token());
  }

  @Test
  void aSetnxWhoseReplyIsLostKeepsAllOutUntilItsStampPasses() throws InterruptedException {
    InterceptingProxy broken = fleet.proxy();
    LockManager unlucky = fleet.manager(broken, clock);
    broken.loseReplyTo("SETNX");

    assertThatThrownBy(() -> unlucky.tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockOutageException.class);

    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(1L));
    assertThat(unlucky.tryAcquire("orders", Fleet.TTL)).isEmpty();
    clock.pass(Duration.ofSeconds(12));
    assertThat(unlucky.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void aDelThatIsLostKeepsAllOutUntilItsStampPasses() throws InterruptedException {
    InterceptingProxy broken = fleet.proxy();
    LockManager unlucky = fleet.manager(broken, clock);
    Lease lease = Fleet.take(unlucky, "orders");
    broken.lose("DEL");

    assertThatThrownBy(lease::release).isInstanceOf(LockOutageException.class);

    assertThat(fleet.manager(clock).tryAcquire("orders", Fleet.TTL)).isEmpty();
    clock.pass(Duration.ofSeconds(12));
    assertThat(fleet.manager(clock).tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void aValueBetweenAnExtensionsGetAndItsGetsetIsOverwritten() {
    InterceptingProxy slow = fleet.proxy();
    LockManager locks = fleet.manager(slow, clock);
    SetnxGrant grant = Fleet.granted(locks);
    slow.before("GETSET", () -> fleet.say("SET", KEY, "locked"));

    assertThat(Fleet.extended(locks, grant)).failsWithin(5, TimeUnit.SECONDS);

    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(11));
  }

  @Test
  void aGetsetThatArrivesAfterTheReleaseOverwritesTheNextOwner() throws InterruptedException {
    InterceptingProxy slow = fleet.proxy();
    LockManager locks = fleet.manager(slow, clock);
    SetnxGrant grant = Fleet.granted(locks);
    CountDownLatch arrives = new CountDownLatch(1);
    slow.passAfterTheEnd("GETSET", () -> InterceptingProxy.passed(arrives));

    assertThat(Fleet.extended(locks, grant)).failsWithin(5, TimeUnit.SECONDS);
    assertThat(Fleet.released(locks, grant))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(Optional.empty());
    assertThat(fleet.say("SETNX", KEY, stamp(60))).isEqualTo(1L);
    arrives.countDown();

    await().untilAsserted(() -> assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(11)));
    clock.pass(Duration.ofSeconds(12)); // the owner has 48 seconds left
    assertThat(Fleet.take(fleet.manager(clock), "orders").isHeld()).isTrue();
  }

  @Test
  void anExtensionTakesAnotherOwnersStampForItsOwn() throws InterruptedException {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    fleet.say("DEL", KEY);
    Lease other = Fleet.take(fleet.manager(clock), "orders");

    assertThat(Fleet.extended(locks, grant))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isInstanceOf(Extended.class);
    assertThat(other.isHeld()).isTrue();
  }

  /** The first ancestor: two commands, and a client that dies between them. */
  @Test
  void aCrashBetweenSetnxAndExpireLeavesTheLockForever() {
    assertThat(fleet.say("SETNX", KEY, "1")).isEqualTo(1L);

    assertThat(fleet.say("TTL", KEY)).as("no end").isEqualTo(-1L);
    assertThat(fleet.say("SETNX", KEY, "1")).as("for all others").isEqualTo(0L);
    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("holds '1'");
  }

  /** The second ancestor: one command, but a release that does not look whose key it is. */
  @Test
  void aPlainDelAfterSetNxPxRemovesAnotherOwnersLock() {
    assertThat(fleet.say("SET", KEY, "first", "NX", "PX", "1")).isEqualTo("OK");
    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
    assertThat(fleet.say("SET", KEY, "second", "NX", "PX", "60000")).isEqualTo("OK");

    assertThat(fleet.say("DEL", KEY)).as("the first one's").isEqualTo(1L);

    assertThat(fleet.say("SET", KEY, "third", "NX", "PX", "60000")).isEqualTo("OK");
  }
}
