package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A lease is renewed in the background. */
abstract class KeepAliveRules {
  private static final int MOST_STALLS = 5;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long BETWEEN_COLLECTIONS_NANOS = 50_000_000;

  final Trial trial;

  KeepAliveRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("KEEP-1")
  @IfThisFails("check that a lease with keepAliveUpTo is extended in time, again and again")
  void aLeaseIsRenewedForAsLongAsItIsHeld() {
    Duration ttl = trial.shortTtl();
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("kept");
          long start = System.nanoTime();
          Lease lease = trial.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
          trial
              .soon()
              .until(
                  "its ttl is over, and that of one renewal",
                  () -> System.nanoTime() - start > 3 * ttl.toNanos() / 2 || !lease.isHeld());

          assertThat(lease.isHeld()).as("held after one and a half of its ttl").isTrue();
          assertThat(trial.gets(other, name)).as("granted to another").isFalse();
        });
  }

  @Test
  @Rule("KEEP-2")
  @IfThisFails("check that a renewal that no quorum answered is tried again soon")
  void aRenewalThatFailsIsTriedAgain() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    Duration ttl = trial.shortTtl().multipliedBy(2);
    LockManager locks = trial.open("nodeTimeout=" + ttl.dividedBy(10).toMillis() + "ms");

    Tries.anyOf(
        () -> {
          String name = trial.name("retried");
          Lease lease = trial.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
          trial.begin(TckFault.FROZEN, trial.nodes(), name);
          long frozen = System.nanoTime();
          trial
              .soon()
              .until(
                  "half of its time is over",
                  () -> System.nanoTime() - frozen > ttl.multipliedBy(11).dividedBy(20).toNanos());
          trial.end(TckFault.FROZEN, trial.nodes(), name);
          if (!lease.isHeld()) {
            abort("an outage was a loss, which is another rule's");
          }

          trial
              .soon()
              .until(
                  "it is renewed, or over",
                  () -> !lease.isHeld() || System.nanoTime() - frozen > ttl.toNanos());
          if (!lease.isHeld()) {
            trial.needsRenewals();
          }
          assertThat(lease.isHeld()).as("renewed once the nodes answered again").isTrue();
        });
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that a release ends the renewals")
  void nothingIsRenewedAfterARelease() {
    trial.needsNodes(1);
    String name = trial.name("released");
    LockManager locks = trial.openForShortTtl();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.briefTtl()).keepAliveUpTo(HOUR));
    Trial.regardless(lease::release);

    assertNotRenewed(lease);
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that a loss ends the renewals")
  void nothingIsRenewedAfterALoss() {
    trial.needsNodes(1);
    String name = trial.name("lost");
    LockManager locks = trial.openForShortTtl();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.briefTtl()).keepAliveUpTo(HOUR));
    trial.occupy(trial.nodes(), name);
    Trial.regardless(() -> lease.extend(trial.briefTtl()));
    if (lease.isHeld()) {
      abort("the lease is not lost, which is another rule's");
    }

    assertNotRenewed(lease);
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that renewals stop at the end of keepAliveUpTo, and move no end past it")
  void nothingIsRenewedPastTheLongestHold() {
    Duration maxHold = trial.briefTtl().multipliedBy(3).dividedBy(2);
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();
    Lease lease;
    int stalls = 0;
    do {
      lease = trial.take(locks, limited(maxHold));
    } while (isOverEarly(lease, maxHold) && ++stalls < MOST_STALLS);

    assertThat(catchThrowable(lease::requireHeld)).as("held after its longest hold").isNotNull();
    String name = lease.name();
    trial.soon().until("others get the lock", () -> trial.gets(other, name));
  }

  private LockRequest limited(Duration maxHold) {
    return LockRequest.of(trial.name("limited"), trial.briefTtl()).keepAliveUpTo(maxHold);
  }

  /** Waits for the end of its longest hold. On a machine that stalls it may be lost long before. */
  private boolean isOverEarly(Lease lease, Duration maxHold) {
    long granted = System.nanoTime();
    trial
        .soon()
        .until(
            "its time is over",
            () -> System.nanoTime() - granted > maxHold.toNanos() || !lease.isHeld());
    return System.nanoTime() - granted < maxHold.multipliedBy(3).dividedBy(4).toNanos();
  }

  @Test
  @Alone
  @Rule("KEEP-4")
  @IfThisFails("check that nothing that renews a lease keeps it reachable, and that it is logged")
  void aLeaseThatNobodyCanReachIsNoLongerRenewedAndAWarningIsLogged() {
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("forgotten");
          try (Logs logs = Logs.kept()) {
            forget(locks, LockRequest.of(name, trial.shortTtl()).keepAliveUpTo(HOUR));
            trial
                .soon()
                .until(
                    "others get the lock",
                    () -> {
                      System.gc();
                      LockSupport.parkNanos(BETWEEN_COLLECTIONS_NANOS);
                      return trial.gets(other, name);
                    });

            logs.needsToBeSeen();
            if (logs.warnings().stream().noneMatch(line -> line.contains(name))) {
              trial.needsRenewals();
            }
            assertThat(logs.warnings()).as("warnings").anyMatch(line -> line.contains(name));
          }
        });
  }

  /** Takes a lock on another thread, whose stack is gone when this returns. */
  private void forget(LockManager locks, LockRequest request) {
    Thread thread = new Thread(() -> trial.take(locks, request), "forgets");
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Puts the token back, as late commands do: it goes with its time, if nobody renews it. */
  private void assertNotRenewed(Lease lease) {
    trial.needsExpiry();
    trial.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), trial.briefTtl()));

    trial.awaitFree(lease.name());
  }
}
