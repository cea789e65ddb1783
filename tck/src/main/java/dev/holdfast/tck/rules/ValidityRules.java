package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The validity that a lease reports. */
public abstract class ValidityRules {
  /** Longer than any silence here, so that the drift that goes with it is a small part of one. */
  private static final Duration TTL = Duration.ofSeconds(5);

  private static final Duration SILENCE = Duration.ofMillis(300);

  /** Far from both a right validity and one that is counted from the reply. */
  private static final Duration MAX_BEYOND = SILENCE.dividedBy(3);

  /** The time by which a thread may sleep too long. */
  private static final long SPIN_NANOS = 3_000_000;

  /** Grants of each ttl of milliseconds. */
  private static final int SHORT_GRANTS = 12;

  /** Much longer than from a call to the reading of a clock in it. */
  private static final Duration READING_MARGIN = Duration.ofMillis(5);

  /** So many in a row are not all stopped by a machine that stalls. */
  private static final int MAX_CALLS = 10;

  final TckFixture fixture;

  public ValidityRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that validity is the ttl, less the elapsed time, less the drift")
  void theRemainingTimeIsNeverMoreThanTheTtl() {
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());

    assertThat(lease.remaining()).isLessThanOrEqualTo(fixture.ttl());
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that the allowance for drift is taken off the validity")
  void theDriftOfTheNodesClocksIsDeducted() {
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          long begun = System.nanoTime();
          Lease lease = locks.tryAcquire(fixture.name("drift"), fixture.ttl()).orElseThrow();

          assertThat(beyond(begun, fixture.ttl(), lease))
              .as("by how much it outlasts its ttl")
              .isNegative();
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that elapsed time counts from before the first message, not from a reply")
  void theTimeThatNodesTakeToAnswerIsSpent() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          String name = fixture.name("slow");
          Duration beyond =
              whileSilent(
                  name,
                  () -> {
                    long begun = System.nanoTime();
                    return beyond(begun, TTL, locks.tryAcquire(name, TTL).orElseThrow());
                  });

          assertThat(beyond)
              .as("by how much a lease of %s that took %s outlasts its ttl", TTL, SILENCE)
              .isLessThan(MAX_BEYOND);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that an extension's validity counts from before its first message, too")
  void theTimeThatNodesTakeToAnswerAnExtensionIsSpent() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          String name = fixture.name("slow");
          Lease lease = fixture.take(locks, name, TTL);
          Duration beyond =
              whileSilent(
                  name,
                  () -> {
                    long begun = System.nanoTime();
                    lease.extend(TTL);
                    return beyond(begun, TTL, lease);
                  });

          if (!countsDown(lease)) {
            AnotherRule.isBroken("remaining() does not count down");
          }
          assertThat(beyond)
              .as("by how much an extension by %s that took %s outlasts its ttl", TTL, SILENCE)
              .isLessThan(MAX_BEYOND);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that the clock is read in the call, before any thread or node is waited for")
  void aGrantCountsFromItsCall() throws InterruptedException {
    LockManager locks = fixture.openForShortTtl();

    assertCountsFromItsCall(
        "a grant",
        () -> {
          long begun = System.nanoTime();
          Duration ttl = fixture.shortTtl();
          return beyond(begun, ttl, locks.acquire(fixture.name("granted"), ttl));
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that an extension reads the clock before any thread or node is waited for")
  void anExtensionCountsFromItsCall() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = fixture.openForShortTtl();
    Duration less = fixture.shortTtl().dividedBy(2);

    assertCountsFromItsCall(
        "an extension",
        () -> {
          Lease lease = locks.acquire(fixture.name("extended"), less);
          long begun = System.nanoTime();
          lease.extend(fixture.shortTtl());
          return beyond(begun, fixture.shortTtl(), lease);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adoption reads the clock before any thread or node is waited for")
  void anAdoptionCountsFromItsCall() throws InterruptedException {
    LockManager locks = fixture.openForShortTtl();

    assertCountsFromItsCall(
        "an adoption",
        () -> {
          TransferredLock lock = TransferredLock.of(fixture, "adopted");
          LockRequest request = LockRequest.of(lock.name(), fixture.shortTtl());
          long begun = System.nanoTime();
          return beyond(begun, fixture.shortTtl(), locks.adopt(lock.text(), request));
        });
  }

  /**
   * Returns by how much a lease outlasts its ttl from this time on: more, if the machine stalls.
   */
  private static Duration beyond(long begun, Duration ttl, Lease lease) {
    return lease.remaining().plus(Elapsed.since(begun)).minus(ttl);
  }

  /** A call, which returns by how much its lease outlasts the ttl. */
  private interface Beyond {
    Duration call() throws InterruptedException;
  }

  /** Tries until a lease outlasts its ttl only slightly, because a machine may stall in a call. */
  private void assertCountsFromItsCall(String what, Beyond call) throws InterruptedException {
    Duration least = fixture.ttl();
    for (int i = 0; i < MAX_CALLS && least.compareTo(READING_MARGIN) > 0; i++) {
      try {
        Duration beyond = call.call();
        least = beyond.compareTo(least) < 0 ? beyond : least;
      } catch (LockException e) {
        IgnoredFailures.add(e);
      }
    }
    assertThat(least)
        .as("by how much %s outlasts its ttl, counted from the call, at best", what)
        .isLessThanOrEqualTo(READING_MARGIN);
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-2")
  @IfThisFails("check that elapsed time is the larger of monotonic and wall-clock time")
  void aClockThatJumpsAheadSpendsValidity() {
    TckClock clock = Needs.clock(fixture);
    Lease shortened = fixture.take(fixture.open(), fixture.name("shortened"), fixture.ttl());
    boolean countsDown = countsDown(shortened);
    clock.step(fixture.ttl().dividedBy(2));
    if (countsDown) {
      assertThat(shortened.remaining())
          .as("remaining time after a jump of half the ttl")
          .isLessThanOrEqualTo(fixture.ttl().dividedBy(2));
    }

    clock.step(fixture.ttl().dividedBy(2));
    assertThatThrownBy(shortened::requireHeld)
        .as("after a jump of the whole ttl")
        .isInstanceOf(LockException.class);
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-2")
  @IfThisFails("check that monotonic time goes on counting when the wall clock is set back")
  void aClockThatIsSetBackGivesNothingAway() {
    TckClock clock = Needs.clock(fixture);
    Lease lease =
        fixture.take(fixture.openForShortTtl(), fixture.name("set-back"), fixture.briefTtl());
    Duration before = lease.remaining();

    clock.step(Duration.ofHours(-1));

    assertThat(lease.remaining()).isLessThanOrEqualTo(before);
    fixture.awaitOver(lease);
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is computed again each time, from the clock")
  void theRemainingTimeCountsDown() {
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());
    Duration first = lease.remaining();
    long start = System.nanoTime();

    for (int millis = 10; millis <= 50; millis += 10) {
      long passed = millis * 1_000_000L;
      fixture.soon().until("time passes", () -> System.nanoTime() - start > passed);

      assertThat(lease.remaining())
          .as("remaining time after %d ms", millis)
          .isLessThanOrEqualTo(first.minusNanos(passed));
    }
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero once the lease was released")
  void nothingRemainsOfAReleasedLease() {
    Lease lease = fixture.take(fixture.open(), fixture.name("released"), fixture.ttl());

    TckFixture.regardless(lease::release);

    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero once the lease's manager was closed")
  void nothingRemainsOfALeaseOfAClosedManager() {
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.name("closed"), fixture.ttl());

    locks.close();

    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero, and not below, once the lease is lost")
  void nothingRemainsOfALostLease() {
    Lease lease = fixture.take(fixture.openForShortTtl(), fixture.name("lost"), fixture.briefTtl());
    long start = System.nanoTime();
    fixture
        .soon()
        .until("its time is over", () -> System.nanoTime() - start > fixture.briefTtl().toNanos());

    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero once a lease was found to be another owner's")
  void nothingRemainsOfALeaseThatWasTakenAway() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    Lease lease = fixture.take(fixture.open(), fixture.name("taken"), fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), lease.name());
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease is not lost");
    }

    assertThat(lease.remaining()).isZero();
  }

  /** Blocks other threads at a loss. A lease that leaves its end to a timer is late for one. */
  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @IfThisFails("check that isHeld, requireHeld and remaining read the clock, and wait for no timer")
  void aLeaseKnowsItsEndThoughNoOtherThreadHasRunSince() {
    LockManager locks = fixture.openForShortTtl();
    CountDownLatch unblocked = new CountDownLatch(1);
    fixture.atEnd(unblocked::countDown);
    Thread here = Thread.currentThread();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Lease lease = fixture.take(locks, fixture.name("end"), fixture.briefTtl());
      lease
          .onLoss()
          .thenAccept(
              reason -> {
                if (Thread.currentThread() != here) {
                  block(unblocked);
                }
              });
      leases.add(lease);
      spinUntil(System.nanoTime() + 2_000_000);
    }
    for (Lease lease : leases) {
      Duration remaining = lease.remaining();
      spinUntil(System.nanoTime() + remaining.plus(tickOf(remaining)).toNanos());

      assertThat(lease.isHeld()).as("isHeld at its end").isFalse();
      assertThat(lease.remaining()).as("remaining at its end").isZero();
      assertThatThrownBy(lease::requireHeld).isInstanceOf(LockException.class);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-5")
  @IfThisFails(
      "check that validity is looked at again when the last needed answer is there, and that an"
          + " outage is thrown if it is over")
  void aGrantWhoseTimeWasOverWhenItCameIsAnOutage() {
    TckClock clock = Needs.clock(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          String name = fixture.name("overslept");
          Lease probe = fixture.take(locks, fixture.name("probe"), TTL);
          Thread sleep =
              new Thread(
                  () -> {
                    LockSupport.parkNanos(SILENCE.toNanos() / 2);
                    clock.step(TTL);
                  },
                  "sleep");
          Object result =
              whileSilent(
                  name,
                  () -> {
                    sleep.start();
                    return resultOf(locks, name);
                  });
          sleep.join();
          if (probe.isHeld()) {
            AnotherRule.isBroken("the step of the clock spends no validity");
          }

          assertThat(result)
              .as("the result, though no other owner holds the lock")
              .isNotEqualTo(Optional.empty());
          if (result instanceof Lease lease) {
            assertThat(lease.isHeld()).as("held when it was granted").isTrue();
          }
        });
  }

  /** Returns the lease, or an empty Optional, or what was thrown. */
  private static Object resultOf(LockManager locks, String name) throws InterruptedException {
    try {
      Optional<Lease> lease = locks.tryAcquire(name, TTL);
      return lease.isPresent() ? lease.get() : lease;
    } catch (RuntimeException notGot) {
      return notGot;
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-5")
  @IfThisFails("check that the time that a store took is looked at before its answer is a grant")
  void aTtlOfMillisecondsIsNeverGrantedWhenItIsOver() {
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          Map<Duration, Duration> late = new TreeMap<>();
          List<Duration> wakeUps = new ArrayList<>();
          long tried = System.nanoTime();
          for (int millis = 1; millis <= 8 && fixture.isEarly(tried); millis++) {
            Duration ttl = Duration.ofMillis(millis);
            int granted = 0;
            List<Duration> over = new ArrayList<>();
            for (int i = 0; i < SHORT_GRANTS; i++) {
              long begun = System.nanoTime();
              Optional<Lease> lease = Attempts.once(locks, fixture.name("short"), ttl);
              if (lease.isPresent()) {
                granted++;
                if (!lease.get().isHeld()) {
                  over.add(Elapsed.since(begun).minus(ttl));
                }
              }
              wakeUps.add(Threads.wakeUp());
            }
            if (granted >= SHORT_GRANTS / 2 && over.size() * 10 >= granted * 9) {
              late.put(ttl, median(over));
            }
          }
          Duration excused = median(wakeUps).multipliedBy(3).plusNanos(300_000);
          late.values().removeIf(time -> time.compareTo(excused) <= 0);

          assertThat(late)
              .as("ttls, and by how much more than %s their leases were over", excused)
              .isEmpty();
        });
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl may be as long as maxTtl, and no longer")
  void aTtlAboveMaxTtlIsRefused() throws InterruptedException {
    Duration max = fixture.ttl().minusSeconds(5);
    LockManager locks = fixture.open("maxTtl=" + max.toMillis() + "ms");
    LockRequest tooLong = LockRequest.of(fixture.name("long"), max.plusMillis(1));

    Refusals.assertRefused(() -> locks.tryAcquire(tooLong));
    Refusals.assertRefused(() -> locks.acquire(tooLong));
    Refusals.assertRefused(fixture, locks.tryAcquireAsync(tooLong));
    assertThat(fixture.take(locks, fixture.name("longest"), max).isHeld()).isTrue();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that the ttl of an extension is held to maxTtl, too")
  void anExtensionBeyondMaxTtlIsRefused() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Duration max = fixture.ttl().minusSeconds(5);
    LockManager locks = fixture.open("maxTtl=" + max.toMillis() + "ms");
    Lease lease = fixture.take(locks, fixture.name("long"), max);

    Refusals.assertRefused(() -> lease.extend(max.plusMillis(1)));
    Refusals.assertRefused(fixture, lease.extendAsync(max.plusMillis(1)));
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is compared with the allowance for drift")
  void aTtlThatDriftUsesUpIsRefused() {
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.open();
    LockRequest tooShort = LockRequest.of(fixture.name("short"), Duration.ofMillis(1));

    Refusals.assertRefused(() -> locks.tryAcquire(tooShort));
    Refusals.assertRefused(() -> locks.acquire(tooShort));
    Refusals.assertRefused(fixture, locks.tryAcquireAsync(tooShort));
    if (fixture.declares(LockCapability.EXTENSION)) {
      Lease lease = fixture.take(locks, fixture.name("short"), fixture.ttl());
      Refusals.assertRefused(() -> lease.extend(tooShort.ttl()));
    }
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is not compared with a timeout: nodes mostly answer much sooner")
  void aTtlBelowTheTimeoutsIsTaken() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open("nodeTimeout=" + fixture.shortTtl().toMillis() + "ms");

    assertThat(fixture.take(locks, fixture.name("short"), fixture.briefTtl())).isNotNull();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is refused before anything is sent")
  void aTtlThatIsRefusedIsNotSent() {
    Counts.needsRequests(fixture);
    LockManager locks = fixture.open("maxTtl=20s");
    LockRequest tooLong = LockRequest.of(fixture.name("long"), Duration.ofSeconds(21));
    OnNodes.take(fixture, locks, fixture.name("warm"), Duration.ofSeconds(10));

    Counts.assertNoneBy(
        fixture,
        () -> {
          TckFixture.regardless(() -> locks.tryAcquire(tooLong));
          TckFixture.regardless(() -> locks.acquire(tooLong.waitAtMost(Duration.ofMillis(10))));
          if (fixture.nodes().size() > 1) {
            TckFixture.regardless(
                () -> locks.tryAcquire(fixture.name("short"), Duration.ofMillis(1)));
          }
        });
  }

  /** Makes a call while all nodes are silent, which lasts for some time longer. */
  private <T> T whileSilent(String name, Callable<T> call) throws Exception {
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    Thread end =
        new Thread(
            () -> {
              LockSupport.parkNanos(SILENCE.toNanos());
              Faults.end(TckFault.FROZEN, fixture.nodes(), name);
            },
            "end of silence");
    end.start();
    try {
      return call.call();
    } finally {
      end.join();
    }
  }

  /** Returns whether the remaining time decreases, which another rule covers. */
  private static boolean countsDown(Lease lease) {
    Duration first = lease.remaining();
    spinUntil(System.nanoTime() + 2_000_000);
    return lease.remaining().compareTo(first) < 0;
  }

  /** Returns the part that rounding to milliseconds or microseconds may have cut off. */
  private static Duration tickOf(Duration notified) {
    for (long nanos : List.of(1_000_000L, 1_000L)) {
      if (notified.toNanos() % nanos == 0) {
        return Duration.ofNanos(nanos);
      }
    }
    return Duration.ZERO;
  }

  private static void spinUntil(long nanos) {
    LockSupport.parkNanos(nanos - System.nanoTime() - SPIN_NANOS);
    while (System.nanoTime() - nanos <= 0) {
      Thread.onSpinWait();
    }
  }

  private static void block(CountDownLatch unblocked) {
    try {
      unblocked.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Duration median(List<Duration> times) {
    return times.stream().sorted().toList().get(times.size() / 2);
  }
}
