package dev.holdfast.legacy;

import static dev.holdfast.legacy.Fleet.KEY;
import static dev.holdfast.legacy.HandClock.stamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How a lock is asked for: the commands, and what others do between them. */
class SetnxAttemptTest {
  /** Of a hold of ten seconds that began three tenths after the start. */
  private static final String STAMP = stamp(11);

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);

  @Test
  void aFreeLockIsTakenBySetnxAndGivenBackByDel() throws InterruptedException {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);

    Lease lease = Fleet.take(locks, "orders");
    boolean released = lease.release();

    assertThat(released).isTrue();
    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "DEL " + KEY);
  }

  @Test
  void aLockThatIsHeldIsLookedAtAndLeftAsItIs() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(5));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);

    Optional<Lease> lease = locks.tryAcquire("orders", Fleet.TTL);

    assertThat(lease).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(5));
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY);
  }

  @Test
  void aLockThatHasExpiredIsTakenOverByGetset() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);

    Lease lease = Fleet.take(locks, "orders");

    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
    assertThat(fleet.say("PTTL", KEY)).as("no time to live").isEqualTo(-1L);
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY, "GETSET " + KEY + " " + STAMP);
  }

  @Test
  void aTakeOverThatFindsALiveStampInTheReplyIsARefusal() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before("GETSET", () -> fleet.say("GETSET", KEY, stamp(7)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  /** A live stamp in the reply is another owner's, who may have given the lock to a third one. */
  @Test
  void aTakeOverThatFindsALiveStampIsARefusalHoweverLateTheReplyComes()
      throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before(
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
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before("GET", () -> clock.pass(Duration.ofSeconds(8)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(7));
  }

  @Test
  void aTakeOverThatFindsTheKeyGoneIsAGrant() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(-1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before("GETSET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void aLockThatIsReleasedBetweenTwoCommandsIsAskedForOnceMore() throws InterruptedException {
    fleet.say("SETNX", KEY, stamp(5));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before("GET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
    assertThat(between.commandsAbout(KEY)).element(2).asString().startsWith("SETNX ");
  }

  @Test
  void othersOfTheFleetKeepUsOutAndAreKeptOut() throws InterruptedException {
    LockManager locks = fleet.manager(clock, settings -> settings.unit(ChronoUnit.MILLIS));
    assertThat(fleet.say("SETNX", KEY, stamp(5) + "300")).isEqualTo(1L);
    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
    fleet.say("DEL", KEY);

    Lease lease = Fleet.take(locks, "orders");

    assertThat(fleet.say("SETNX", KEY, stamp(5) + "300")).isEqualTo(0L);
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(10) + "301");
    assertThat(lease.release()).isTrue();
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void stampsWithAFractionAreWrittenAndRead() throws InterruptedException {
    LockManager locks = fleet.manager(clock, settings -> settings.floatingPoint(true));
    fleet.say("SETNX", KEY, stamp(0) + ".299999");

    Fleet.take(locks, "orders");

    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(11) + ".300000");
    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  @DisplayName("VAL-1: validity is the ttl less the drift, and ends before the stamp")
  void validityEndsBeforeTheStamp() throws InterruptedException {
    Lease lease = Fleet.take(fleet.manager(clock), "orders");

    assertThat(lease.remaining()).isEqualTo(Fleet.TTL.minusMillis(102));
    clock.pass(Fleet.TTL.minusMillis(102));
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @DisplayName("VAL-5: a grant whose time was over when it came is none, and leaves no key")
  void aGrantThatComesTooLateIsNone() {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between, clock);
    between.before("SETNX", () -> clock.pass(Fleet.TTL));

    assertThat(Fleet.primitive(locks).attempt(Fleet.ATTEMPT))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(new Refusal(1, 0, 0));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @DisplayName(
      "ACQ-3: the stamp of an attempt that was answered after its time is taken away again")
  void whatAnAttemptInAnOutageLeftGoesWhenTheServerAnswers() {
    LockManager locks =
        fleet.manager(clock, settings -> settings.nodeTimeout(Duration.ofMillis(200)));
    NODE.freeze();
    try {
      assertThatThrownBy(() -> locks.tryAcquire("orders", Fleet.TTL))
          .isInstanceOf(LockBackendException.class)
          .hasMessage(
              "the server did not tell whether 'orders' is free: "
                  + NODE.address()
                  + ": no answer within 200 ms");
    } finally {
      NODE.thaw();
    }

    await().untilAsserted(() -> assertThat(NODE.commandCounts()).containsKey("del"));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void aConnectionThatEndedWhileItWasIdleCostsNoAttempt() throws InterruptedException {
    LockManager locks = fleet.manager(clock);
    fleet.say("CLIENT", "KILL", "TYPE", "normal");
    clock.pass(Duration.ofSeconds(2));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void attemptsWhoseTimeIsOverAreNotSent() throws InterruptedException {
    LockManager locks =
        fleet.manager(clock, settings -> settings.nodeTimeout(Duration.ofMillis(200)));
    NODE.resetCommandCounts();
    NODE.freeze();
    try {
      List<CompletableFuture<Optional<Lease>>> attempts =
          IntStream.range(0, 30)
              .mapToObj(i -> locks.tryAcquireAsync(LockRequest.of("late-" + i, Fleet.TTL)))
              .toList();
      attempts.forEach(
          attempt ->
              assertThat(attempt)
                  .failsWithin(5, TimeUnit.SECONDS)
                  .withThrowableOfType(ExecutionException.class)
                  .withCauseInstanceOf(LockBackendException.class));
    } finally {
      NODE.thaw();
    }
    locks.acquire("last", Fleet.TTL); // behind all of them

    await()
        .untilAsserted(
            () -> assertThat(fleet.say("KEYS", "lock.*")).isEqualTo(List.of("lock.last")));
    assertThat(NODE.commandCounts().get("setnx")).isLessThan(20);
  }

  @Test
  void aServerThatWasStartedAnewIsUsedAgain() throws InterruptedException {
    LockManager locks = fleet.manager(clock);
    Fleet.take(locks, "before");
    NODE.restart();

    assertThat(locks.acquire("orders", Fleet.TTL).isHeld()).isTrue();
  }

  @Test
  void aClockThatNobodyHasSetTakesNoLock() {
    clock.pass(Duration.ofSeconds(-HandClock.START_SECONDS));

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("set this machine's clock");
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @DisplayName("VAL-6: a ttl that is not above nodeTimeout and drift is refused")
  void aTtlThatIsTooShortIsRefused() {
    LockManager locks =
        fleet.manager(clock, settings -> settings.nodeTimeout(Duration.ofMillis(100)));

    assertThatThrownBy(() -> locks.tryAcquire("orders", Duration.ofMillis(103)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the ttl 103 ms is not above nodeTimeout and the allowance for drift, 103 ms together:"
                + " ask for more");
  }

  @Test
  void aKeyThatLooksLikeOneOfOursIsRefused() {
    LockManager locks = fleet.manager(clock, settings -> settings.keyPrefix(""));

    assertThatThrownBy(() -> locks.tryAcquire("holdfast:guard", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("holdfast:");
  }
}
