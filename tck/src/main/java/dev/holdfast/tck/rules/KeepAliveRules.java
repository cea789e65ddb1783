package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease is renewed in the background. */
public abstract class KeepAliveRules {
  private static final int MAX_STALLS = 5;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long BETWEEN_ATTEMPTS_NANOS = 50_000_000;

  /** After so many a garbage collector has found what no code can reach. */
  private static final int COLLECTIONS = 3;

  final TckFixture fixture;

  public KeepAliveRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("KEEP-1")
  @IfThisFails("check that a lease with keepAliveUpTo is extended in time, again and again")
  void aLeaseIsRenewedForAsLongAsItIsHeld() {
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          String name = fixture.name("kept");
          long start = System.nanoTime();
          Lease lease = fixture.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
          fixture
              .soon()
              .until(
                  "its ttl is over, and that of one renewal",
                  () -> System.nanoTime() - start > 3 * ttl.toNanos() / 2 || !lease.isHeld());

          assertThat(lease.isHeld()).as("held after one and a half of its ttl").isTrue();
          assertThat(fixture.gets(other, name)).as("granted to another").isFalse();
        });
  }

  @Test
  @Rule("KEEP-2")
  @IfThisFails("check that a renewal that no quorum answered is tried again soon")
  void aRenewalThatFailsIsTriedAgain() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    Duration ttl = fixture.shortTtl().multipliedBy(2);
    LockManager locks = fixture.open("nodeTimeout=" + ttl.dividedBy(10).toMillis() + "ms");

    Retries.anyOf(
        () -> {
          String name = fixture.name("retried");
          Lease lease = fixture.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
          long taken = System.nanoTime();
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
          fixture
              .soon()
              .until(
                  "half of its time is over",
                  () -> System.nanoTime() - taken > ttl.multipliedBy(11).dividedBy(20).toNanos());
          Faults.end(TckFault.FROZEN, fixture.nodes(), name);
          if (!lease.isHeld()) {
            AnotherRule.isBroken("an outage of half a ttl was a loss: " + lease.onLoss());
          }

          fixture
              .soon()
              .until(
                  "it is renewed, or over",
                  () ->
                      !lease.isHeld()
                          || System.nanoTime() - taken
                              > ttl.multipliedBy(21).dividedBy(20).toNanos());
          if (!lease.isHeld()) {
            Renewals.needed(fixture);
          }
          assertThat(lease.isHeld()).as("renewed once the nodes answered again").isTrue();
        });
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that a release ends the renewals")
  void nothingIsRenewedAfterARelease() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("released");
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, LockRequest.of(name, fixture.briefTtl()).keepAliveUpTo(HOUR));
    TckFixture.regardless(lease::release);

    assertNotRenewed(lease);
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that a loss ends the renewals")
  void nothingIsRenewedAfterALoss() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    String name = fixture.name("lost");
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, LockRequest.of(name, fixture.briefTtl()).keepAliveUpTo(HOUR));
    OnNodes.occupy(fixture, fixture.nodes(), name);
    TckFixture.regardless(() -> lease.extend(fixture.briefTtl()));
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease is not lost");
    }

    assertNotRenewed(lease);
  }

  @Test
  @Rule("KEEP-3")
  @IfThisFails("check that renewals stop at the end of keepAliveUpTo, and move no end past it")
  void nothingIsRenewedPastTheLongestHold() {
    Duration maxHold = fixture.briefTtl().multipliedBy(3).dividedBy(2);
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    Lease lease;
    int stalls = 0;
    do {
      lease = fixture.take(locks, limited(maxHold));
    } while (isOverEarly(lease, maxHold) && ++stalls < MAX_STALLS);

    assertThat(catchThrowable(lease::requireHeld)).as("held after its longest hold").isNotNull();
    String name = lease.name();
    fixture.soon().until("others get the lock", () -> fixture.gets(other, name));
  }

  private LockRequest limited(Duration maxHold) {
    return LockRequest.of(fixture.name("limited"), fixture.briefTtl()).keepAliveUpTo(maxHold);
  }

  /** Waits for the end of its longest hold. On a machine that stalls it may be lost long before. */
  private boolean isOverEarly(Lease lease, Duration maxHold) {
    long granted = System.nanoTime();
    fixture
        .soon()
        .until(
            "its time is over",
            () -> System.nanoTime() - granted > maxHold.toNanos() || !lease.isHeld());
    return System.nanoTime() - granted < maxHold.multipliedBy(3).dividedBy(4).toNanos();
  }

  @Test
  @Rule("KEEP-4")
  @IfThisFails("check that nothing that renews a lease keeps it reachable, and that it is logged")
  void aLeaseThatNoCodeCanReachIsNoLongerRenewedAndAWarningIsLogged() {
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          String name = fixture.name("forgotten");
          try (Logs logs = Logs.kept()) {
            forget(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
            awaitGranted(other, name);

            logs.needsToBeSeen();
            if (logs.warnings().stream().noneMatch(line -> line.contains(name))) {
              Renewals.needed(fixture);
            }
            assertThat(logs.warnings()).as("warnings").anyMatch(line -> line.contains(name));
          }
        });
  }

  @Test
  @Rule("KEEP-4")
  @IfThisFails("check that nothing that renews an adopted lease keeps it reachable")
  void anAdoptedLeaseThatNoCodeCanReachIsNoLongerRenewed() {
    Needs.of(fixture, LockCapability.TRANSFER);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    TransferredLock lock = TransferredLock.of(fixture, "forgotten");
    AtomicBoolean isAdopted = new AtomicBoolean();

    forget(
        () -> {
          LockRequest request = LockRequest.of(lock.name(), fixture.shortTtl());
          isAdopted.set(locks.adopt(lock.text(), request.keepAliveUpTo(HOUR)).isHeld());
        });
    if (!isAdopted.get()) {
      AnotherRule.isBroken("a transferred lock cannot be adopted");
    }

    awaitGranted(other, lock.name());
  }

  @Test
  @Rule("KEEP-4")
  @IfThisFails("check that nothing that extends a lease keeps it reachable")
  void anExtendedLeaseThatNoCodeCanReachIsNoLongerRenewed() {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    String name = fixture.name("forgotten");
    Duration ttl = fixture.shortTtl().multipliedBy(3); // longer than a machine stalls

    forget(
        () -> {
          Lease lease = fixture.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));
          TckFixture.regardless(() -> lease.extend(ttl));
          TckFixture.regardless(() -> lease.extendAsync(ttl).join());
        });

    awaitGranted(other, name);
  }

  @Test
  @Rule("KEEP-4")
  @IfThisFails("check that nothing that is reported to listeners keeps a lease reachable")
  void aLeaseWhoseEventsAreReportedIsNotRenewedOnceNoCodeCanReachIt() {
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(new LockListener() {});
    LockManager other = fixture.open();
    String name = fixture.name("forgotten");

    forget(locks, LockRequest.of(name, fixture.shortTtl()).keepAliveUpTo(HOUR));

    awaitGranted(other, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that a lease that no code can reach is not released: work may still go on")
  void aLeaseThatNoCodeCanReachKeepsOthersOutForItsTtl() {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    String name = fixture.name("forgotten");
    forget(locks, LockRequest.of(name, fixture.ttl()));

    long begun = System.nanoTime();
    long enough = Garbage.collections() + COLLECTIONS;
    fixture
        .soon()
        .until(
            "garbage was collected often enough, or slowly",
            () -> {
              collectAndWait();
              assertThat(fixture.gets(other, name)).as("granted to another owner").isFalse();
              return Garbage.collections() >= enough
                  || Elapsed.since(begun).compareTo(fixture.timing().soon().dividedBy(2)) > 0;
            });
  }

  /** Waits until another manager gets the lock, and collects garbage meanwhile. */
  private void awaitGranted(LockManager other, String name) {
    fixture
        .soon()
        .until(
            "others get the lock",
            () -> {
              collectAndWait();
              return fixture.gets(other, name);
            });
  }

  private static void collectAndWait() {
    Garbage.collect();
    LockSupport.parkNanos(BETWEEN_ATTEMPTS_NANOS);
  }

  private void forget(LockManager locks, LockRequest request) {
    forget(() -> fixture.take(locks, request));
  }

  /** Takes a lock on another thread, whose stack is gone when this returns. */
  private static void forget(Runnable taking) {
    Thread thread = new Thread(taking, "forgets");
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Asserts that a token that is put back, as by late commands, expires and is not renewed. */
  private void assertNotRenewed(Lease lease) {
    OnNodes.needsExpiry(fixture);
    fixture.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), fixture.briefTtl()));

    OnNodes.awaitFree(fixture, lease.name());
  }
}
