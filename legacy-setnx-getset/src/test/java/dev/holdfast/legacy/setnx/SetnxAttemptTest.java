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
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An attempt: its commands, and what other clients do between them. */
class SetnxAttemptTest {
  /** The stamp of a hold of ten seconds that began three tenths of a second after the start. */
  private static final String STAMP = stamp(11);

  private static final LockRequest BRIEFLY =
      LockRequest.of("orders", Fleet.TTL).waitAtMost(Duration.ofMillis(20));

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);
  private final InterceptingProxy proxy = fleet.proxy();
  private final LockManager locks = fleet.manager(proxy, clock);

  @Test
  void freeLockIsAcquiredBySetnxAndReleasedByDel() throws InterruptedException {
    Lease lease = Fleet.take(locks, "orders");
    boolean released = lease.release();

    assertThat(released).isTrue();
    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(proxy.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "DEL " + KEY);
  }

  @Test
  void heldLockIsReadAndLeftUnchanged() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(5));

    Optional<Lease> lease = locks.tryAcquire("orders", Fleet.TTL);

    assertThat(lease).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(5));
    assertThat(proxy.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY);
  }

  @Test
  void aLockThatHasExpiredIsTakenOverByGetset() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));

    Lease lease = Fleet.take(locks, "orders");

    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
    assertThat(fleet.say("PTTL", KEY)).as("no time to live").isEqualTo(-1L);
    assertThat(proxy.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY, "GETSET " + KEY + " " + STAMP);
  }

  @Test
  void aTakeOverThatFindsALiveStampInTheReplyIsARefusal() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    proxy.before("GETSET", () -> fleet.say("GETSET", KEY, stamp(7)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  /** A live stamp in the reply is another owner's, who may have given the lock to a third one. */
  @Test
  void aTakeOverThatFindsALiveStampIsARefusalHoweverLateTheReplyComes()
      throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    proxy.before(
        "GETSET",
        () -> {
          fleet.say("GETSET", KEY, stamp(7));
          clock.pass(Duration.ofSeconds(8));
        });

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  void aStampThatWasLiveWhenItWasAskedForIsLeftAsItIs() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(7));
    proxy.before("GET", () -> clock.pass(Duration.ofSeconds(8)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(7));
  }

  @Test
  void aTakeOverThatFindsTheKeyGoneIsAGrant() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    proxy.before("GETSET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void lockReleasedBetweenTwoCommandsIsTriedAgain() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(5));
    proxy.before("GET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
    assertThat(proxy.commandsAbout(KEY)).element(2).asString().startsWith("SETNX ");
  }

  @Test
  void clientsOfTheFleetAndHoldfastExcludeEachOther() throws InterruptedException {
    LockManager inMillis = fleet.manager(clock, settings -> settings.unit(ChronoUnit.MILLIS));
    assertThat(fleet.say("SETNX", KEY, stamp(5) + "300")).isEqualTo(1L);
    assertThat(inMillis.tryAcquire("orders", Fleet.TTL)).isEmpty();
    fleet.say("DEL", KEY);

    Lease lease = Fleet.take(inMillis, "orders");

    assertThat(fleet.say("SETNX", KEY, stamp(5) + "300")).isEqualTo(0L);
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(10) + "301");
    assertThat(lease.release()).isTrue();
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void stampsWithAFractionAreWrittenAndRead() throws InterruptedException {
    LockManager withFractions = fleet.manager(clock, settings -> settings.floatingPoint(true));
    fleet.say("SETNX", KEY, stamp(0) + ".299999");

    Fleet.take(withFractions, "orders");

    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(11) + ".300000");
    assertThat(withFractions.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @DisplayName("validity is the ttl less the drift, and ends before the stamp")
  void validityEndsBeforeTheStamp() throws InterruptedException {
    Lease lease = Fleet.take(fleet.manager(clock), "orders");

    assertThat(lease.remaining()).isEqualTo(Fleet.TTL.minusMillis(102));
    clock.pass(Fleet.TTL.minusMillis(102));
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-5")
  @DisplayName("a grant that comes after its validity is an outage, and leaves no key")
  void grantAfterItsValidityIsAnOutageAndLeavesNoKey() {
    proxy.before("SETNX", () -> clock.pass(Fleet.TTL));

    assertThat(Fleet.primitive(locks).attempt(Fleet.ATTEMPT))
        .failsWithin(5, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockOutageException.class)
        .withMessageContaining("was granted when its ttl of");
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @Rule("ACQ-3")
  @DisplayName("the stamp of an attempt that was answered too late is removed")
  void stampOfAnAttemptAnsweredTooLateIsRemoved() {
    LockManager impatient =
        fleet.manager(clock, settings -> settings.quorumTimeout(Duration.ofMillis(200)));

    assertThatAnUnansweredAttemptFails(impatient, Fleet.TTL, "no answer within 200 ms");
  }

  /** Asserts how an attempt at a frozen server fails, and that its late stamp is removed. */
  private void assertThatAnUnansweredAttemptFails(
      LockManager manager, Duration ttl, String reason) {
    NODE.freeze();
    try {
      assertThatThrownBy(() -> manager.tryAcquire("orders", ttl))
          .isInstanceOf(LockOutageException.class)
          .hasMessage(
              "the server did not tell whether 'orders' is free: "
                  + NODE.address()
                  + ": "
                  + reason);
    } finally {
      NODE.thaw();
    }

    await().untilAsserted(() -> assertThat(NODE.commandCounts()).containsKey("del"));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void endOfAnIdleConnectionFailsNoAttempt() throws InterruptedException {
    LockManager direct = fleet.manager(clock);
    fleet.say("CLIENT", "KILL", "TYPE", "normal");
    clock.pass(Duration.ofSeconds(2));

    assertThat(direct.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void expiredAttemptsAreNotSent() throws InterruptedException {
    LockManager impatient =
        fleet.manager(clock, settings -> settings.quorumTimeout(Duration.ofMillis(200)));
    NODE.resetCommandCounts();
    NODE.freeze();
    try {
      List<CompletableFuture<Optional<Lease>>> attempts =
          IntStream.range(0, 30)
              .mapToObj(i -> impatient.tryAcquireAsync(LockRequest.of("late-" + i, Fleet.TTL)))
              .toList();
      attempts.forEach(
          attempt ->
              assertThat(attempt)
                  .failsWithin(5, TimeUnit.SECONDS)
                  .withThrowableOfType(ExecutionException.class)
                  .withCauseInstanceOf(LockOutageException.class));
    } finally {
      NODE.thaw();
    }
    impatient.acquire("last", Fleet.TTL); // behind all of them

    await()
        .untilAsserted(
            () -> assertThat(fleet.say("KEYS", "lock.*")).isEqualTo(List.of("lock.last")));
    assertThat(NODE.commandCounts().get("setnx")).isLessThan(20);
  }

  @Test
  void restartedServerIsUsedAgain() throws InterruptedException {
    LockManager direct = fleet.manager(clock);
    Fleet.take(direct, "before");
    NODE.restart();

    assertThat(direct.acquire("orders", Fleet.TTL).isHeld()).isTrue();
  }

  @Test
  void unsetClockAcquiresNoLock() {
    clock.pass(Duration.ofSeconds(-HandClock.START_SECONDS));

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("set this machine's clock");
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl that the allowance for drift uses up is refused, and nothing is asked")
  void aTtlThatDriftUsesUpIsRefused() {
    assertThatThrownBy(() -> locks.tryAcquire("orders", Duration.ofMillis(2)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("the ttl 2 ms is not above the allowance for drift, 3 ms: ask for more");
    assertThat(proxy.commandsAbout(KEY)).isEmpty();
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl that is shorter than every timeout is no mistake")
  void aTtlBelowTheTimeoutsIsTaken() throws InterruptedException {
    LockManager patient =
        fleet.manager(clock, settings -> settings.nodeTimeout(Fleet.TTL.multipliedBy(2)));

    assertThat(patient.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-5")
  @DisplayName("an attempt waits no longer than a grant would be valid, and says so")
  void anAttemptWaitsNoLongerThanItsValidity() {
    assertThatAnUnansweredAttemptFails(
        fleet.manager(clock),
        Duration.ofMillis(200),
        "no answer within 196 ms, which is all that a ttl of 200 ms leaves");
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("a wait behind an unanswered attempt ends with an outage")
  void waitBehindAnUnansweredAttemptEndsWithAnOutage() {
    CountDownLatch arrives = new CountDownLatch(1);
    proxy.before("SETNX", () -> InterceptingProxy.passed(arrives));
    CompletableFuture<Optional<Lease>> head =
        locks.tryAcquireAsync(LockRequest.of("orders", Fleet.TTL));
    clock.pass(SetnxLocks.DEFAULT_NODE_TIMEOUT);

    assertThatThrownBy(() -> locks.tryAcquire(BRIEFLY))
        .isInstanceOf(LockOutageException.class)
        .hasMessage(
            "the server did not tell whether 'orders' is free: "
                + proxy.address()
                + ": no answer within 50 ms");

    arrives.countDown();
    assertThat(head).succeedsWithin(5, TimeUnit.SECONDS);
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("a wait behind an attempt that may still be answered ends with contention")
  void waitBehindARecentAttemptIsContention() throws InterruptedException {
    CountDownLatch arrives = new CountDownLatch(1);
    proxy.before("SETNX", () -> InterceptingProxy.passed(arrives));
    CompletableFuture<Optional<Lease>> head =
        locks.tryAcquireAsync(LockRequest.of("orders", Fleet.TTL));
    clock.pass(SetnxLocks.DEFAULT_NODE_TIMEOUT.minusMillis(1));

    assertThat(locks.tryAcquire(BRIEFLY)).isEmpty();

    arrives.countDown();
    assertThat(head).succeedsWithin(5, TimeUnit.SECONDS);
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("a wait behind an attempt that was answered once ends with contention")
  void waitBehindAnAnsweredAttemptIsContention() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(5));
    CountDownLatch arrives = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    proxy.before(
        "GET",
        () -> {
          asked.countDown();
          InterceptingProxy.passed(arrives);
        });
    CompletableFuture<Optional<Lease>> head =
        locks.tryAcquireAsync(LockRequest.of("orders", Fleet.TTL));
    InterceptingProxy.passed(asked);
    clock.pass(SetnxLocks.DEFAULT_NODE_TIMEOUT);

    assertThat(locks.tryAcquire(BRIEFLY)).isEmpty();

    arrives.countDown();
    assertThat(head).succeedsWithin(5, TimeUnit.SECONDS);
  }

  @Test
  void aKeyThatLooksLikeOneOfOursIsRefused() {
    LockManager withoutPrefix = fleet.manager(clock, settings -> settings.keyPrefix(""));

    assertThatThrownBy(() -> withoutPrefix.tryAcquire("holdfast:guard", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("holdfast:");
  }
}
