package dev.holdfast.legacy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SetnxPrimitiveTest {
  private static final long START = HandClock.START_SECONDS;
  private static final String KEY = "lock.orders";

  /** Of a hold of ten seconds that began three tenths after the start. */
  private static final String STAMP = Long.toString(START + 11);

  private static TestNodes nodes;

  private final HandClock clock = HandClock.atStart();
  private Fleet fleet;

  @BeforeAll
  static void start() {
    nodes = TestNodes.start(1);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @BeforeEach
  void begin() {
    fleet = new Fleet(node());
  }

  @AfterEach
  void end() {
    fleet.close();
  }

  @Test
  void aFreeLockIsTakenBySetnxAndGivenBackByDel() throws InterruptedException {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});

    Lease lease = Fleet.take(locks, "orders");
    boolean released = lease.release();

    assertThat(released).isTrue();
    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "DEL " + KEY);
  }

  @Test
  void aLockThatIsHeldIsLookedAtAndLeftAsItIs() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START + 5));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});

    Optional<Lease> lease = locks.tryAcquire("orders", Fleet.TTL);

    assertThat(lease).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 5));
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY);
  }

  @Test
  void aLockThatHasExpiredIsTakenOverByGetset() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START - 1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});

    Lease lease = Fleet.take(locks, "orders");

    assertThat(lease.token()).isEqualTo(STAMP);
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
    assertThat(fleet.say("PTTL", KEY)).as("no time to live").isEqualTo(-1L);
    assertThat(between.commandsAbout(KEY))
        .containsExactly("SETNX " + KEY + " " + STAMP, "GET " + KEY, "GETSET " + KEY + " " + STAMP);
  }

  @Test
  void aTakeOverThatFindsALiveStampInTheReplyIsARefusal() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START - 1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before("GETSET", () -> fleet.say("GETSET", KEY, Long.toString(START + 7)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  /** A live stamp in the reply is another owner's, who may have given the lock to a third one. */
  @Test
  void aTakeOverThatFindsALiveStampIsARefusalHoweverLateTheReplyComes()
      throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START - 1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before(
        "GETSET",
        () -> {
          fleet.say("GETSET", KEY, Long.toString(START + 7));
          clock.pass(Duration.ofSeconds(8));
        });

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
  }

  @Test
  void aStampThatWasLiveWhenItWasAskedForIsLeftAsItIs() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START + 7));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before("GET", () -> clock.pass(Duration.ofSeconds(8)));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 7));
  }

  @Test
  void aTakeOverThatFindsTheKeyGoneIsAGrant() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START - 1));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before("GETSET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
  }

  @Test
  void aLockThatIsReleasedBetweenTwoCommandsIsAskedForOnceMore() throws InterruptedException {
    fleet.say("SETNX", KEY, Long.toString(START + 5));
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before("GET", () -> fleet.say("DEL", KEY));

    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isPresent();
    assertThat(between.commandsAbout(KEY)).element(2).asString().startsWith("SETNX ");
  }

  @Test
  void othersOfTheFleetKeepUsOutAndAreKeptOut() throws InterruptedException {
    LockManager locks = fleet.manager(clock, settings -> settings.unit(ChronoUnit.MILLIS));
    assertThat(fleet.say("SETNX", KEY, START + 5 + "300")).isEqualTo(1L);
    assertThat(locks.tryAcquire("orders", Fleet.TTL)).isEmpty();
    fleet.say("DEL", KEY);

    Lease lease = Fleet.take(locks, "orders");

    assertThat(fleet.say("SETNX", KEY, START + 5 + "300")).isEqualTo(0L);
    assertThat(fleet.say("GET", KEY)).isEqualTo(START + 10 + "301");
    assertThat(lease.release()).isTrue();
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void stampsWithAFractionAreWrittenAndRead() throws InterruptedException {
    LockManager locks = fleet.manager(clock, settings -> settings.floatingPoint(true));
    fleet.say("SETNX", KEY, START + ".299999");

    Fleet.take(locks, "orders");

    assertThat(fleet.say("GET", KEY)).isEqualTo(START + 11 + ".300000");
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
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    between.before("SETNX", () -> clock.pass(Fleet.TTL));

    assertThat(Fleet.primitive(locks).attempt(attempt()))
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
    node().freeze();
    try {
      assertThatThrownBy(() -> locks.tryAcquire("orders", Fleet.TTL))
          .isInstanceOf(LockBackendException.class)
          .hasMessage(
              "the server did not tell whether 'orders' is free: "
                  + node().address()
                  + ": no answer within 200 ms");
    } finally {
      node().thaw();
    }

    await().untilAsserted(() -> assertThat(node().commandCounts()).containsKey("del"));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @DisplayName("LOSS-4: a release that finds no key says so")
  void aLockThatWasRemovedIsSeenAtItsRelease() throws InterruptedException {
    Lease lease = Fleet.take(fleet.manager(clock), "orders");
    fleet.say("DEL", KEY);

    assertThat(lease.release()).isFalse();
    assertThatThrownBy(lease::requireHeld).hasMessageContaining("REMOVED");
  }

  @Test
  void aReleaseAfterItsStampDeletesNothing() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    clock.pass(Duration.ofMillis(10_700));

    assertThat(Fleet.primitive(locks).release(grant, Duration.ZERO, false))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(Optional.of(LossReason.EXPIRED));
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
  }

  @Test
  void aReleaseJustBeforeItsStampDeletes() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    clock.pass(Duration.ofMillis(10_699));

    assertThat(Fleet.primitive(locks).release(grant, Duration.ZERO, false))
        .succeedsWithin(5, TimeUnit.SECONDS)
        .isEqualTo(Optional.empty());
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void aReleaseWhoseConnectionBrokeIsNotSentAgainBecauseTheNextOwnersStampMayBeTheSame()
      throws InterruptedException {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    Lease lease = Fleet.take(locks, "orders");
    between.loseReplyTo("DEL");

    LockBackendException outage = catchThrowableOfType(LockBackendException.class, lease::release);
    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
    fleet.say("SETNX", KEY, STAMP);
    locks.close(); // when all has been sent

    assertThat(outage.outcomeUnknown()).isTrue();
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
    assertThat(between.commandsAbout(KEY)).last().isEqualTo("DEL " + KEY);
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
    node().resetCommandCounts();
    node().freeze();
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
      node().thaw();
    }
    locks.acquire("last", Fleet.TTL); // behind all of them

    await()
        .untilAsserted(
            () -> assertThat(fleet.say("KEYS", "lock.*")).isEqualTo(List.of("lock.last")));
    assertThat(node().commandCounts().get("setnx")).isLessThan(20);
  }

  @Test
  @DisplayName("REL-2: releases that a frozen server kept waiting are all sent")
  void releasesWhoseTimeIsOverAreSentAllTheSame() throws InterruptedException {
    LockManager locks =
        fleet.manager(clock, settings -> settings.nodeTimeout(Duration.ofMillis(200)));
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      leases.add(locks.acquire("held-" + i, Fleet.TTL));
    }
    node().freeze();
    try {
      List<? extends CompletionStage<Boolean>> releases =
          leases.stream().map(Lease::releaseAsync).toList();
      releases.forEach(
          release ->
              assertThat(release.toCompletableFuture())
                  .failsWithin(5, TimeUnit.SECONDS)
                  .withThrowableOfType(ExecutionException.class)
                  .withCauseInstanceOf(LockBackendException.class));
    } finally {
      node().thaw();
    }

    await().untilAsserted(() -> assertThat(fleet.say("KEYS", "lock.*")).isEqualTo(List.of()));
  }

  @Test
  @DisplayName("REL-4: a release that is not answered is an outage whose outcome nobody knows")
  void aReleaseThatIsNotAnsweredIsAnOutage() throws InterruptedException {
    LockManager locks =
        fleet.manager(clock, settings -> settings.nodeTimeout(Duration.ofMillis(200)));
    Lease lease = Fleet.take(locks, "orders");
    node().freeze();
    LockBackendException outage;
    try {
      outage = catchThrowableOfType(LockBackendException.class, lease::release);
    } finally {
      node().thaw();
    }

    assertThat(outage)
        .hasMessage(
            "the server did not answer the release of 'orders': "
                + node().address()
                + ": no answer within 200 ms");
    assertThat(outage.outcomeUnknown()).isTrue();
    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
  }

  @Test
  void aServerThatWasStartedAnewIsUsedAgain() throws InterruptedException {
    LockManager locks = fleet.manager(clock);
    Fleet.take(locks, "before");
    node().restart();

    assertThat(locks.acquire("orders", Fleet.TTL).isHeld()).isTrue();
  }

  @Test
  void anExtensionRewritesTheStamp() {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    SetnxGrant grant = grantedBy(locks);
    clock.pass(Duration.ofSeconds(4));

    Extension extension = answered(extended(locks, grant));

    assertThat(extension).isInstanceOf(Extended.class);
    assertThat(clock.now().nanosUntil(((Extended) extension).validUntil()))
        .isEqualTo(Fleet.TTL.minusMillis(102).toNanos());
    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 15));
    assertThat(between.commandsAbout(KEY))
        .containsExactly(
            "SETNX " + KEY + " " + STAMP, "GET " + KEY, "GETSET " + KEY + " " + (START + 15));
  }

  @Test
  void aLockThatWasExtendedIsReleasedUntilItsNewStamp() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    clock.pass(Duration.ofSeconds(4));
    assertThat(answered(extended(locks, grant))).isInstanceOf(Extended.class);
    clock.pass(Duration.ofSeconds(8)); // the first stamp has passed

    assertThat(answered(Fleet.primitive(locks).release(grant, Duration.ZERO, false))).isEmpty();
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @DisplayName("EXT-3: an extension never writes an earlier stamp")
  void anExtensionByLessKeepsTheLaterStamp() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);

    Extension extension =
        answered(Fleet.primitive(locks).extend(grant, Duration.ofSeconds(5), false));

    assertThat(extension).isInstanceOf(Extended.class);
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
  }

  @Test
  @DisplayName("EXT-2: a stamp that has passed, or nearly so, is not extended")
  void aStampThatHasNearlyPassedIsNotExtended() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);

    clock.pass(Duration.ofMillis(10_449)); // 251 ms before the stamp
    assertThat(answered(extended(locks, grant))).isInstanceOf(Extended.class);
    clock.pass(Duration.ofMillis(10_001)); // 250 ms before the next one
    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.EXPIRED));
    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 21));
  }

  @Test
  @DisplayName("EXT-5, EXT-6: an extension that finds no key puts nothing there")
  void anExtensionOfALockThatWasRemovedWritesNothing() {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    SetnxGrant grant = grantedBy(locks);
    fleet.say("DEL", KEY);

    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.REMOVED));
    assertThat(between.commandsAbout(KEY)).last().isEqualTo("GET " + KEY);
  }

  @Test
  @DisplayName("EXT-5, EXT-6: an extension that comes just after a removal leaves nothing")
  void anExtensionJustAfterARemovalTakesAwayWhatItPutThere() {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    SetnxGrant grant = grantedBy(locks);
    between.before("GETSET", () -> fleet.say("DEL", KEY));

    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.REMOVED));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @DisplayName("EXT-5: an extension that finds a stamp that has expired was too late")
  void anExtensionThatFindsAnExpiredStampIsALoss() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    fleet.say("SET", KEY, Long.toString(START - 1));

    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.TAKEN));
    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START - 1));
  }

  @Test
  @DisplayName("EXT-5: an extension whose GETSET finds a stamp that has expired was too late")
  void anExtensionThatOverwritesAnExpiredStampIsALoss() {
    Between between = fleet.between();
    LockManager locks = fleet.manager(between.uri(), clock, settings -> {});
    SetnxGrant grant = grantedBy(locks);
    between.before("GETSET", () -> fleet.say("SET", KEY, Long.toString(START - 1)));

    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.TAKEN));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void whatAnExtensionFoundGoneIsNotDeletedByTheReleaseThatFollows() {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    fleet.say("DEL", KEY);
    assertThat(answered(extended(locks, grant))).isEqualTo(new Lost(LossReason.REMOVED));
    fleet.say("SETNX", KEY, Long.toString(START + 60));

    answered(Fleet.primitive(locks).release(grant, Duration.ZERO, false));

    assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 60));
  }

  @ParameterizedTest
  @ValueSource(strings = {"locked", "1800000099123"})
  void anExtensionLeavesWhatIsNoStampAsItIs(String value) {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = grantedBy(locks);
    fleet.say("SET", KEY, value);

    assertThat(extended(locks, grant))
        .failsWithin(5, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockConfigurationException.class);
    assertThat(fleet.say("GET", KEY)).isEqualTo(value);
  }

  @Test
  void aReleaseDoesNotOvertakeAnExtensionWhoseCallerHasGone() {
    Between between = fleet.between();
    LockManager locks =
        fleet.manager(
            between.uri(), clock, settings -> settings.nodeTimeout(Duration.ofMillis(500)));
    SetnxGrant grant = grantedBy(locks);
    CountDownLatch arrives = new CountDownLatch(1);
    between.before("GETSET", () -> passed(arrives));
    assertThat(extended(locks, grant)).failsWithin(5, TimeUnit.SECONDS);

    CompletionStage<Optional<LossReason>> release =
        Fleet.primitive(locks).release(grant, Duration.ZERO, false);
    assertThat(release).failsWithin(5, TimeUnit.SECONDS); // it waits for the GETSET
    assertThat(between.commandsAbout(KEY)).last().asString().startsWith("GETSET ");
    arrives.countDown();

    await().untilAsserted(() -> assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L));
  }

  /** Whoever has no answer holds the lock for what it had left, and no longer. */
  @Test
  void anExtensionThatIsAnsweredTooLateChangesNothingForItsHolder() {
    Between between = fleet.between();
    LockManager locks =
        fleet.manager(
            between.uri(), clock, settings -> settings.nodeTimeout(Duration.ofMillis(500)));
    SetnxGrant grant = grantedBy(locks);
    clock.pass(Duration.ofSeconds(4));
    CountDownLatch arrives = new CountDownLatch(1);
    between.before("GETSET", () -> passed(arrives));
    assertThat(extended(locks, grant)).failsWithin(5, TimeUnit.SECONDS);

    arrives.countDown();
    await()
        .untilAsserted(
            () -> assertThat(fleet.say("GET", KEY)).isEqualTo(Long.toString(START + 15)));
    clock.pass(Duration.ofSeconds(7)); // the stamp that the holder knows has passed

    assertThat(answered(Fleet.primitive(locks).release(grant, Duration.ZERO, false)))
        .contains(LossReason.EXPIRED);
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(1L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          locked        | is no time stamp
          1             | is a number, but no time from 2001 to 2286
          1800000099123 | is a time in milliseconds, but unit=s is set: if all clients write it so, set unit=ms
          1800000099.5  | has a fraction, but number=integer is set: if all clients write it so, set number=float
          """)
  void aValueThatIsNoStampIsAnErrorAndIsLeftAsItIs(String value, String what) {
    fleet.say("SET", KEY, value);
    LockManager locks = fleet.manager(clock);

    assertThatThrownBy(() -> locks.acquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the key 'lock.orders' on "
                + node().address()
                + " holds '"
                + value
                + "', which "
                + what
                + "; else use another name or keyPrefix, or remove the key");
    assertThat(fleet.say("GET", KEY)).isEqualTo(value);
  }

  @Test
  void aLongValueIsShownShortenedAndFitToBePrinted() {
    fleet.say("SET", KEY, "\u0007" + "x".repeat(5_000));

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(" holds '\uFFFD" + "x".repeat(39) + "…', which is no time stamp;");
  }

  @Test
  @DisplayName("ACQ-9: a key of another type is an error that names key and node")
  void aKeyOfAnotherTypeIsAnErrorAndIsLeftAsItIs() {
    fleet.say("RPUSH", KEY, "no", "lock");

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the key 'lock.orders' holds no string, so no lock, on "
                + node().address()
                + ": use another name or keyPrefix, or remove the key");
    assertThat(fleet.say("LLEN", KEY)).isEqualTo(2L);
  }

  @Test
  void aClockThatNobodyHasSetTakesNoLock() {
    clock.pass(Duration.ofSeconds(-START));

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

  @Test
  void aStampDoesNotSayWhoHolds() {
    LockPrimitive primitive = Fleet.primitive(fleet.manager(clock));

    CompletionStage<Optional<LockStatus>> inspected = primitive.inspect("orders");

    assertThat(inspected).isCompletedExceptionally();
    assertThat(primitive.forceRelease("orders")).isCompletedExceptionally();
    assertThat(primitive.capabilities()).isEmpty();
  }

  private SetnxGrant grantedBy(LockManager locks) {
    return (SetnxGrant) answered(Fleet.primitive(locks).attempt(attempt()));
  }

  private static CompletionStage<Extension> extended(LockManager locks, SetnxGrant grant) {
    return Fleet.primitive(locks).extend(grant, Fleet.TTL, false);
  }

  private static void passed(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Attempt attempt() {
    return new Attempt("orders", "somebody", Fleet.TTL, false);
  }

  private static <T> T answered(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
  }

  private static TestNode node() {
    return nodes.node(0);
  }
}
