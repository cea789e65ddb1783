package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a lease lasts by its own word. */
abstract class ValidityRules {
  /** Longer than any silence here, so that the drift that goes with it is a small part of one. */
  private static final Duration TTL = Duration.ofSeconds(5);

  private static final Duration SILENCE = Duration.ofMillis(300);

  /** Far from both a right validity and one that is counted from the reply. */
  private static final Duration MOST_AFTER_SILENCE =
      TTL.minus(SILENCE.multipliedBy(2).dividedBy(3));

  /** What a thread may sleep too long by. */
  private static final long SPIN_NANOS = 3_000_000;

  final Trial trial;

  ValidityRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that validity is the ttl, less the elapsed time, less the drift")
  void whatRemainsIsNeverMoreThanTheTtl() {
    Lease lease = trial.take(trial.open(), trial.name("held"), trial.ttl());

    assertThat(lease.remaining()).isLessThanOrEqualTo(trial.ttl());
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that the allowance for drift is taken off the validity")
  void whatNodesClocksMayDriftApartIsTakenOff() {
    trial.needsNodes(2);
    LockManager locks = trial.open();

    Tries.anyOf(
        () -> {
          long start = System.nanoTime();
          Lease lease = locks.tryAcquire(trial.name("drift"), trial.ttl()).orElseThrow();
          Duration remaining = lease.remaining();
          Duration elapsed = Duration.ofNanos(System.nanoTime() - start);

          assertThat(remaining.plus(elapsed))
              .as("what remains, and all that has elapsed")
              .isLessThan(trial.ttl());
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that elapsed time counts from before the first message, not from a reply")
  void theTimeThatNodesTakeToAnswerIsSpent() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    LockManager locks = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("slow");
          Lease lease = whileSilent(name, () -> locks.tryAcquire(name, TTL).orElseThrow());

          assertThat(lease.remaining())
              .as("what remains of %s that took %s to be granted", TTL, SILENCE)
              .isLessThan(MOST_AFTER_SILENCE);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that an extension's validity counts from before its first message, too")
  void theTimeThatNodesTakeToAnswerAnExtensionIsSpent() {
    trial.needs(LockCapability.EXTENSION);
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    LockManager locks = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("slow");
          Lease lease = trial.take(locks, name, TTL);
          Lease extended =
              whileSilent(
                  name,
                  () -> {
                    lease.extend(TTL);
                    return lease;
                  });

          if (!countsDown(extended)) {
            abort("remaining() does not count down, which is another rule's");
          }
          assertThat(extended.remaining())
              .as("what remains of an extension by %s that took %s", TTL, SILENCE)
              .isLessThan(MOST_AFTER_SILENCE);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-2")
  @IfThisFails("check that elapsed time is the larger of monotonic and wall-clock time")
  void aClockThatJumpsAheadSpendsValidity() {
    TckClock clock = trial.needsClock();
    Lease shortened = trial.take(trial.open(), trial.name("shortened"), trial.ttl());
    boolean countsDown = countsDown(shortened);
    clock.step(trial.ttl().dividedBy(2));
    if (countsDown) {
      assertThat(shortened.remaining())
          .as("what remains after a jump of half the ttl")
          .isLessThanOrEqualTo(trial.ttl().dividedBy(2));
    }

    clock.step(trial.ttl().dividedBy(2));
    assertThatThrownBy(shortened::requireHeld)
        .as("after a jump of the whole ttl")
        .isInstanceOf(LockException.class);
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-2")
  @IfThisFails("check that monotonic time goes on counting when the wall clock is set back")
  void aClockThatIsSetBackGivesNothingAway() {
    TckClock clock = trial.needsClock();
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("set-back"), trial.briefTtl());
    Duration before = lease.remaining();

    clock.step(Duration.ofHours(-1));

    assertThat(lease.remaining()).isLessThanOrEqualTo(before);
    trial.awaitOver(lease);
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is computed anew each time, from the clock")
  void whatRemainsCountsDown() {
    Lease lease = trial.take(trial.open(), trial.name("held"), trial.ttl());
    Duration first = lease.remaining();
    long start = System.nanoTime();

    for (int millis = 10; millis <= 50; millis += 10) {
      long passed = millis * 1_000_000L;
      trial.soon().until("time passes", () -> System.nanoTime() - start > passed);

      assertThat(lease.remaining())
          .as("what remains after %d ms", millis)
          .isLessThanOrEqualTo(first.minusNanos(passed));
    }
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero once the lease was released")
  void nothingRemainsOfAReleasedLease() {
    Lease lease = trial.take(trial.open(), trial.name("released"), trial.ttl());

    Trial.regardless(lease::release);

    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero, and not below, once the lease is lost")
  void nothingRemainsOfALostLease() {
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("lost"), trial.briefTtl());
    long start = System.nanoTime();
    trial
        .soon()
        .until("its time is over", () -> System.nanoTime() - start > trial.briefTtl().toNanos());

    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule("VAL-3")
  @IfThisFails("check that remaining() is zero once a lease was found to be another owner's")
  void nothingRemainsOfALeaseThatWasTakenAway() {
    trial.needs(LockCapability.EXTENSION);
    trial.needsNodes(1);
    Lease lease = trial.take(trial.open(), trial.name("taken"), trial.ttl());
    trial.occupy(trial.nodes(), lease.name());
    Trial.regardless(() -> lease.extend(trial.ttl()));
    if (lease.isHeld()) {
      abort("the lease is not lost, which is another rule's");
    }

    assertThat(lease.remaining()).isZero();
  }

  /** Whoever leaves it to a timer is late for one of them, as timers are. */
  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @IfThisFails("check that isHeld, requireHeld and remaining read the clock, and wait for no timer")
  void aLeaseKnowsItsEndThoughNoOtherThreadHasRunSince() {
    LockManager locks = trial.openForShortTtl();
    CountDownLatch unblocked = new CountDownLatch(1);
    trial.atEnd(unblocked::countDown);
    Thread here = Thread.currentThread();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Lease lease = trial.take(locks, trial.name("end"), trial.briefTtl());
      lease
          .lost()
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
  @IfThisFails("check that validity is looked at again when the last needed answer is there")
  void aGrantWhoseTimeWasOverWhenItCameIsNone() {
    TckClock clock = trial.needsClock();
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    LockManager locks = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("overslept");
          Lease probe = trial.take(locks, trial.name("probe"), TTL);
          Thread sleep =
              new Thread(
                  () -> {
                    LockSupport.parkNanos(SILENCE.toNanos() / 2);
                    clock.step(TTL);
                  },
                  "sleep");
          Optional<Lease> lease =
              whileSilent(
                  name,
                  () -> {
                    sleep.start();
                    return Attempts.once(locks, name, TTL);
                  });
          sleep.join();
          if (probe.isHeld()) {
            abort("the step of the clock spends no validity, which is another rule's");
          }

          assertThat(lease.filter(one -> !one.isHeld()))
              .as("granted, with its time over")
              .isEmpty();
        });
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl may be as long as maxTtl, and no longer")
  void aTtlAboveMaxTtlIsRefused() throws InterruptedException {
    Duration max = trial.ttl().minusSeconds(5);
    LockManager locks = trial.open("maxTtl=" + max.toMillis() + "ms");
    LockRequest tooLong = LockRequest.of(trial.name("long"), max.plusMillis(1));

    assertRefused(() -> locks.tryAcquire(tooLong));
    assertRefused(() -> locks.acquire(tooLong));
    assertThat(locks.tryAcquireAsync(tooLong))
        .failsWithin(trial.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockConfigurationException.class);
    assertThat(trial.take(locks, trial.name("longest"), max).isHeld()).isTrue();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that the ttl of an extension is held to maxTtl, too")
  void anExtensionBeyondMaxTtlIsRefused() {
    trial.needs(LockCapability.EXTENSION);
    Duration max = trial.ttl().minusSeconds(5);
    LockManager locks = trial.open("maxTtl=" + max.toMillis() + "ms");
    Lease lease = trial.take(locks, trial.name("long"), max);

    assertRefused(() -> lease.extend(max.plusMillis(1)));
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is compared with the allowance for drift")
  void aTtlThatDriftUsesUpIsRefused() {
    trial.needsNodes(2);
    LockManager locks = trial.open();
    LockRequest tooShort = LockRequest.of(trial.name("short"), Duration.ofMillis(1));

    assertRefused(() -> locks.tryAcquire(tooShort));
    assertRefused(() -> locks.acquire(tooShort));
    assertThat(locks.tryAcquireAsync(tooShort))
        .failsWithin(trial.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockConfigurationException.class);
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is compared with no time-out: nodes mostly answer much sooner")
  void aTtlBelowTheTimeOutsIsTaken() {
    trial.needsNodes(1);
    LockManager locks = trial.open("nodeTimeout=" + trial.shortTtl().toMillis() + "ms");

    assertThat(trial.take(locks, trial.name("short"), trial.briefTtl())).isNotNull();
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that a ttl is refused before anything is sent")
  void aTtlThatIsRefusedIsNotSent() {
    trial.needsCounts();
    LockManager locks = trial.open("maxTtl=20s");
    LockRequest tooLong = LockRequest.of(trial.name("long"), Duration.ofSeconds(21));
    long before = trial.requests();

    Trial.regardless(() -> locks.tryAcquire(tooLong));
    Trial.regardless(() -> locks.acquire(tooLong.waitAtMost(Duration.ofMillis(10))));
    if (trial.nodes().size() > 1) {
      Trial.regardless(() -> locks.tryAcquire(trial.name("short"), Duration.ofMillis(1)));
    }

    assertThat(trial.requests()).as("requests that reached nodes").isEqualTo(before);
  }

  private static void assertRefused(Eventually.Assertions call) {
    assertThatThrownBy(call::run).isInstanceOf(LockConfigurationException.class);
  }

  /** Makes a call while all nodes are silent, which lasts for some time longer. */
  private <T> T whileSilent(String name, Callable<T> call) throws Exception {
    trial.begin(TckFault.FROZEN, trial.nodes(), name);
    Thread end =
        new Thread(
            () -> {
              LockSupport.parkNanos(SILENCE.toNanos());
              trial.end(TckFault.FROZEN, trial.nodes(), name);
            },
            "end of silence");
    end.start();
    try {
      return call.call();
    } finally {
      end.join();
    }
  }

  /** Whether any time is seen to pass, which is another rule's. */
  private static boolean countsDown(Lease lease) {
    Duration first = lease.remaining();
    spinUntil(System.nanoTime() + 2_000_000);
    return lease.remaining().compareTo(first) < 0;
  }

  /** What may have been cut off from a time that is told in milliseconds or microseconds. */
  private static Duration tickOf(Duration told) {
    for (long nanos : List.of(1_000_000L, 1_000L)) {
      if (told.toNanos() % nanos == 0) {
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
}
