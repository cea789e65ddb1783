package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about loss: a holder is notified of the end of its lease. */
public abstract class LossRules {
  private static final Duration HOUR = Duration.ofHours(1);

  /** The number of callbacks that block: more than even a large pool has threads. */
  private static final int BLOCKED = 50;

  final TckFixture fixture;

  public LossRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that a timer watches for the end of a lease, and completes onLoss()")
  void theHolderIsNotifiedThatALeaseHasExpired() {
    Lease lease =
        fixture.take(fixture.openForShortTtl(), fixture.name("expires"), fixture.briefTtl());
    CompletableFuture<LossReason> asked = lease.onLoss();

    LossReason reason = fixture.soon().get("onLoss() completes", asked);

    assertThat(reason).isEqualTo(reasonOf(lease));
    assertThat(fixture.soon().get("onLoss() that is asked later completes", lease.onLoss()))
        .isEqualTo(reason);
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that the end that is watched for moves with an extension")
  void theHolderIsNotifiedThatAnExtendedLeaseHasExpired() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Duration ttl = fixture.briefTtl();
    Lease lease = fixture.take(fixture.openForShortTtl(), fixture.name("expires"), ttl);
    TckFixture.regardless(() -> lease.extend(ttl.multipliedBy(3).dividedBy(2)));

    LossReason reason = fixture.soon().get("onLoss() completes", lease.onLoss());

    assertThat(reason).isEqualTo(reasonOf(lease));
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that onLoss() completes when an extension finds that the lock is not held")
  void theHolderIsNotifiedOfALossThatAnExtensionFinds() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Lease lease = lostToAnotherOwner(fixture.open());

    LossReason reason = fixture.soon().get("onLoss() completes", lease.onLoss());

    assertThat(reason).isEqualTo(reasonOf(lease));
  }

  @Test
  @Rule("LOSS-2")
  @IfThisFails("check that all stages of one lease are completed once, by one loss")
  void aLossIsReportedOnceAndTheSameToAll() {
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, fixture.name("once"), fixture.briefTtl());
    List<LossReason> notified = new CopyOnWriteArrayList<>();
    lease.onLoss().thenAccept(notified::add);
    CompletableFuture<LossReason> stage = lease.onLoss();
    stage.thenAccept(notified::add);
    stage.thenAccept(notified::add);
    awaitLoss(lease);
    lease.onLoss().thenAccept(notified::add);

    TckFixture.regardless(lease::release);
    Lease open = fixture.take(locks, fixture.name("open"), fixture.ttl());
    locks.close();
    awaitLoss(open);
    lease.onLoss().thenAccept(notified::add);
    fixture.awaitRegardless("all are notified", () -> notified.size() >= 5);

    assertThat(notified).hasSizeLessThanOrEqualTo(5);
    assertThat(Collections.frequency(notified, notified.get(0)))
        .as("those of %s that are the same", notified)
        .isEqualTo(notified.size());
  }

  @Test
  @Rule("LOSS-2")
  @IfThisFails("check that a release ends the watch for the end of the lease")
  void aReleasedLeaseIsNeverLost() {
    Retries.anyOf(this::assertNeverLostOnceReleased); // a machine that stalls releases too late
  }

  private void assertNeverLostOnceReleased() {
    LockManager locks = fixture.openForShortTtl();
    Duration ttl = fixture.shortTtl().dividedBy(2);
    Lease released = fixture.take(locks, fixture.name("released"), ttl);
    Lease taken = fixture.take(locks, fixture.name("taken"), fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), taken.name());
    List<CompletableFuture<LossReason>> lost = new ArrayList<>();
    for (Lease lease : List.of(released, taken)) {
      lost.add(lease.onLoss());
      boolean held = lease.isHeld();
      TckFixture.regardless(lease::release);
      if (!held) {
        abort("the lease was over before it could be released");
      }
      lost.add(lease.onLoss());
    }
    // two that are lost after these would have been: by time, and with the manager
    awaitLoss(fixture.take(locks, fixture.name("later"), ttl));
    Lease open = fixture.take(locks, fixture.name("open"), fixture.ttl());
    locks.close();
    awaitLoss(open);

    assertThat(lost)
        .as("onLoss() of leases that were released")
        .noneMatch(CompletableFuture::isDone);
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails("check that a lease is over for its holder before onLoss() completes, not after")
  void aLeaseThatIsReportedLostIsNotHeld() {
    LockManager locks = fixture.openForShortTtl();
    List<CompletableFuture<Boolean>> held = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      held.add(isHeldWhenNotified(fixture.take(locks, fixture.name("lost"), fixture.briefTtl())));
    }
    awaitAll(held);

    assertThat(held).as("held when onLoss() completed").noneMatch(CompletableFuture::join);
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails(
      "check that a lease that was taken away is over for its holder when the loss is reported")
  void aLeaseThatIsReportedTakenIsNotHeld() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    Lease taken = fixture.take(fixture.open(), fixture.name("taken"), fixture.ttl());
    CompletableFuture<Boolean> held = isHeldWhenNotified(taken);
    OnNodes.occupy(fixture, fixture.nodes(), taken.name());
    fixture.awaitRegardless(
        "it is found out",
        () -> {
          TckFixture.regardless(() -> taken.extend(fixture.ttl()));
          return taken.onLoss().isDone();
        });
    awaitAll(List.of(held));

    assertThat(held.join()).as("held when onLoss() completed").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails("check that a lease that was seen to be over stays over, whatever nodes say by then")
  void aLostLeaseIsNotHeldAgainWhenItsTokenIsBack() {
    Needs.nodes(fixture, 1);
    Lease lease = fixture.take(fixture.openForShortTtl(), fixture.name("back"), fixture.briefTtl());
    fixture.awaitOver(lease);

    fixture.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), fixture.ttl()));

    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails(
      "check that a lease that was seen to be over stays over, whatever its clock says then")
  void aLostLeaseIsNotHeldAgainWhenTheClockIsSetBack() {
    TckClock clock = Needs.clock(fixture);
    Lease lease = fixture.take(fixture.open(), fixture.name("set-back"), fixture.ttl());
    clock.step(fixture.ttl());
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease does not go by the wall clock");
    }

    clock.step(fixture.ttl().negated());

    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease without renewals ends by EXPIRED")
  void aLeaseThatIsNotRenewedExpires() {
    Lease lease =
        fixture.take(fixture.openForShortTtl(), fixture.name("expires"), fixture.briefTtl());
    fixture.awaitOver(lease);

    assertThat(reasonOf(lease)).isEqualTo(LossReason.EXPIRED);
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a renewal tells another owner's token from none")
  void aLeaseThatARenewalFindsGoneIsTakenOrRemoved() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.openForShortTtl();

    Retries.anyOf(
        fixture.shortTtl().multipliedBy(3).dividedBy(2),
        ttl -> {
          Lease removed =
              fixture.take(locks, LockRequest.of(fixture.name("removed"), ttl).keepAliveUpTo(HOUR));
          OnNodes.lose(fixture, fixture.nodes(), removed.name());
          Lease taken = // later, because nodes may lose all that they have
              fixture.take(locks, LockRequest.of(fixture.name("taken"), ttl).keepAliveUpTo(HOUR));
          OnNodes.occupy(fixture, fixture.nodes(), taken.name());
          fixture.awaitRegardless("they are lost", () -> !taken.isHeld() && !removed.isHeld());
          if (taken.isHeld() || removed.isHeld()) {
            AnotherRule.isBroken("a renewal finds no loss");
          }
          if (reasonOf(taken) == LossReason.EXPIRED) {
            Renewals.needed(fixture);
          }

          assertThat(reasonOf(taken)).isEqualTo(LossReason.TAKEN);
          assertThat(reasonOf(removed)).isEqualTo(LossReason.REMOVED);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease whose renewals were not answered ends by UNREACHABLE")
  void aLeaseWhoseRenewalsNoNodeAnsweredIsUnreachable() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    Duration timeout = fixture.shortTtl().dividedBy(12);
    LockManager locks = fixture.open("nodeTimeout=" + timeout.toMillis() + "ms");

    Retries.anyOf(
        () -> {
          String name = fixture.name("cut-off");
          Lease lease =
              fixture.take(locks, LockRequest.of(name, fixture.shortTtl()).keepAliveUpTo(HOUR));
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
          fixture.awaitOver(lease);
          Faults.end(TckFault.FROZEN, fixture.nodes(), name);
          if (reasonOf(lease) == LossReason.EXPIRED) {
            Renewals.needed(fixture);
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.UNREACHABLE);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease that is not renewed because of keepAliveUpTo ends by MAX_HOLD")
  void aLeaseAtTheEndOfItsLongestHoldSaysSo() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Duration ttl = fixture.shortTtl().dividedBy(2);
    LockManager locks = fixture.openForShortTtl();

    Retries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(fixture.name("limited"), ttl).keepAliveUpTo(ttl);
          Lease lease = fixture.take(locks, request);
          fixture.awaitOver(lease);
          if (reasonOf(lease) == LossReason.EXPIRED) {
            Renewals.needed(fixture);
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.MAX_HOLD);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease whose manager was closed ends by CLOSED")
  void aLeaseOfAClosedManagerSaysSo() {
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.name("open"), fixture.ttl());

    locks.close();
    if (reasonOf(lease) == null) {
      AnotherRule.isBroken("the lease goes on");
    }

    assertThat(reasonOf(lease)).isEqualTo(LossReason.CLOSED);
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that callbacks of onLoss() run on no thread that anything else waits for")
  void aCallbackOfLostThatBlocksDelaysNoOtherLease() {
    LockManager locks = fixture.openForShortTtl();
    Blocking callbacks = new Blocking();
    for (int i = 0; i < BLOCKED; i++) {
      Lease lease = fixture.take(locks, fixture.name("blocks"), fixture.briefTtl());
      callbacks.block(lease::onLoss);
    }
    if (!callbacks.isOneBlocked()) {
      AnotherRule.isBroken("onLoss() does not complete");
    }

    assertThat(callbacks.areBlocked())
        .as("all are notified, although no callback returns")
        .isTrue();
    assertGoesOn(locks);
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that renewals run on no thread that a callback can block")
  void aCallbackThatBlocksDelaysNoRenewal() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();
    Blocking callbacks = new Blocking();
    callbacks.block(fixture.take(locks, fixture.name("blocks"), fixture.briefTtl())::onLoss);
    if (!callbacks.areBlocked()) {
      AnotherRule.isBroken("onLoss() does not complete");
    }

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          LockRequest request = LockRequest.of(fixture.name("kept"), ttl).keepAliveUpTo(HOUR);
          Lease lease = fixture.take(locks, request);
          long begun = System.nanoTime();
          fixture
              .soon()
              .until(
                  "it is renewed, or over",
                  () -> !lease.isHeld() || System.nanoTime() - begun > 5 * ttl.toNanos() / 4);
          if (!lease.isHeld()) {
            Renewals.needed(fixture);
          }

          assertThat(lease.isHeld()).as("renewed in time").isTrue();
        });
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that stages complete on no thread that anything else waits for")
  void aCallbackOfAStageThatBlocksDelaysNoOtherStage() {
    LockManager locks = fixture.openForShortTtl();
    Blocking callbacks = new Blocking();
    Blocking ofWaiter = new Blocking();
    Lease held = fixture.take(locks, fixture.name("handed-over"), fixture.ttl());
    LockRequest waiting = LockRequest.of(held.name(), fixture.ttl()).waitForever();
    ofWaiter.block(() -> locks.tryAcquireAsync(waiting));
    Lease asked = fixture.take(locks, fixture.name("asked"), fixture.ttl());
    if (fixture.declares(LockCapability.EXTENSION)) {
      callbacks.block(() -> asked.extendAsync(fixture.ttl()));
    }
    callbacks.block(asked::releaseAsync);
    // by a thread of its own, in case that the waiter's callback is called by it
    CompletableFuture<?> released =
        CompletableFuture.runAsync(
            () -> TckFixture.regardless(held::release), Threads.EACH_ITS_OWN);
    if (!callbacks.isOneBlocked() || !ofWaiter.areBlocked()) {
      AnotherRule.isBroken("a stage does not complete");
    }

    assertThat(callbacks.areBlocked()).as("all complete, though no callback returns").isTrue();
    fixture.soon().until("release() returns", released::isDone);
    assertGoesOn(locks);
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that futures complete on no thread that a callback of another one can block")
  void aCallbackOfAFutureThatBlocksDelaysNoOtherFuture() {
    LockManager locks = fixture.open();
    Blocking callbacks = new Blocking();
    for (int i = 0; i < BLOCKED; i++) {
      Contender contender = Contender.holding(fixture, fixture.name("waited-for"));
      LockRequest waiting = fixture.request(contender.name()).waitForever();
      callbacks.block(() -> locks.tryAcquireAsync(waiting));
      contender.letGo();
    }
    if (!callbacks.isOneBlocked()) {
      AnotherRule.isBroken("a future does not complete");
    }

    assertThat(callbacks.areBlocked()).as("all complete, though no callback comes back").isTrue();
    String busy = fixture.name("busy");
    Contender.holding(fixture, busy);
    Contender contender = Contender.holding(fixture, fixture.name("let-go"));
    List<CompletableFuture<?>> others = new ArrayList<>();
    others.add(locks.tryAcquireAsync(fixture.request(fixture.name("free"))));
    others.add(locks.tryAcquireAsync(fixture.request(busy)));
    others.add(locks.tryAcquireAsync(fixture.request(busy).waitAtMost(Duration.ofMillis(20))));
    others.add(locks.tryAcquireAsync(fixture.request(contender.name()).waitForever()));
    Lease held = fixture.take(locks, fixture.name("held"), fixture.ttl());
    if (fixture.declares(LockCapability.EXTENSION)) {
      others.add(held.extendAsync(fixture.ttl()));
    }
    others.add(held.releaseAsync());
    contender.letGo();
    fixture.awaitRegardless(
        "futures complete", () -> others.stream().allMatch(CompletableFuture::isDone));
    assertThat(others).as("other futures").allMatch(CompletableFuture::isDone);
  }

  @Test
  @Rule("LOSS-6")
  @IfThisFails(
      "check that the end of a lease is watched for by a timer, and not looked for at times")
  void aLossIsReportedWithinMillisecondsOfItsTime() {
    LockManager locks = fixture.openForShortTtl();

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            List<Duration> delays = delaysOf(6, locks);
            Duration limit = Duration.ofMillis(10).plus(stalls.worst());

            assertThat(delays.get(0)).as("the shortest delay of %s", delays).isLessThan(limit);
            assertThat(delays.get(delays.size() - 1))
                .as("the longest delay of %s", delays)
                .isLessThan(limit.plus(fixture.allowance()));
          }
        });
  }

  @Test
  @Rule("LOSS-7")
  @IfThisFails(
      "check that the manager notices when the wall clock goes ahead of the monotonic clock")
  void aLossByTheWallClockIsReportedWithinASecond() {
    TckClock clock = Needs.clock(fixture);
    LockManager locks = fixture.open();
    awaitLoss(fixture.take(fixture.openForShortTtl(), fixture.name("control"), fixture.briefTtl()));

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Lease lease = fixture.take(locks, fixture.name("sleeps"), fixture.ttl());
            CompletableFuture<Long> notified =
                lease.onLoss().thenApply(reason -> System.nanoTime());
            long stepped = System.nanoTime();
            clock.step(fixture.ttl());
            fixture.awaitRegardless("onLoss() completes", notified::isDone);
            Duration limit = Duration.ofSeconds(1).plus(stalls.worst()).plus(fixture.allowance());

            assertThat(notified).as("onLoss() completes").isDone();
            assertThat(Duration.ofNanos(notified.join() - stepped)).isLessThan(limit);
          }
        });
  }

  /** Callbacks that come back at the end of the test. */
  private final class Blocking {
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<CountDownLatch> blocked = new ArrayList<>();

    Blocking() {
      fixture.atEnd(end::countDown);
    }

    /**
     * Blocks a callback in a new thread. If the stage is complete, the thread itself runs the
     * callback.
     */
    void block(Supplier<? extends CompletableFuture<?>> stage) {
      CountDownLatch mine = new CountDownLatch(1);
      blocked.add(mine);
      Thread thread =
          new Thread(
              () ->
                  stage
                      .get()
                      .whenComplete(
                          (result, failure) -> {
                            mine.countDown();
                            awaitEnd();
                          }),
              "blocks");
      thread.setDaemon(true);
      thread.start();
    }

    boolean isOneBlocked() {
      fixture.awaitRegardless(
          "a callback is called", () -> blocked.stream().anyMatch(one -> one.getCount() == 0));
      return blocked.stream().anyMatch(one -> one.getCount() == 0);
    }

    boolean areBlocked() {
      fixture.awaitRegardless(
          "all are called", () -> blocked.stream().allMatch(one -> one.getCount() == 0));
      return blocked.stream().allMatch(one -> one.getCount() == 0);
    }

    private void awaitEnd() {
      try {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns the times from the ends of some leases to their notifications, in ascending order. */
  private List<Duration> delaysOf(int count, LockManager locks) {
    List<CompletableFuture<Duration>> delays = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Duration ttl = fixture.briefTtl().plusMillis(23L * i);
      Lease lease = fixture.take(locks, fixture.name("ends"), ttl);
      Duration remaining = lease.remaining();
      long end = System.nanoTime() + remaining.toNanos();
      delays.add(lease.onLoss().thenApply(reason -> Duration.ofNanos(System.nanoTime() - end)));
    }
    awaitAll(delays);
    return delays.stream().map(CompletableFuture::join).sorted().toList();
  }

  /** Asserts that other leases are granted, released and notified of their loss. */
  private void assertGoesOn(LockManager locks) {
    CompletableFuture<Lease> next =
        CompletableFuture.supplyAsync(
            () -> {
              Lease lease = fixture.take(locks, fixture.name("next"), fixture.ttl());
              TckFixture.regardless(lease::release);
              return fixture.take(locks, fixture.name("next"), fixture.briefTtl());
            },
            Threads.EACH_ITS_OWN);
    Lease lease = fixture.soon().get("another lease is granted and released", next);
    CompletableFuture<LossReason> lost = lease.onLoss();
    fixture.awaitRegardless("another lease is lost in time", lost::isDone);
    if (!lost.isDone()) {
      awaitLoss(
          fixture.take(fixture.openForShortTtl(), fixture.name("control"), fixture.briefTtl()));
    }
    assertThat(lost).as("another lease is lost in time").isDone();
  }

  /** Returns a lease whose extension has found another owner's lock. */
  private Lease lostToAnotherOwner(LockManager locks) {
    Needs.nodes(fixture, 1);
    Lease lease = fixture.take(locks, fixture.name("taken"), fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), lease.name());
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease is not lost");
    }
    return lease;
  }

  /** Waits until the holder was notified. Leaves the test out if that never happens. */
  private void awaitLoss(Lease lease) {
    awaitAll(List.of(lease.onLoss()));
  }

  private void awaitAll(List<? extends CompletableFuture<?>> notified) {
    try {
      fixture
          .soon()
          .until("onLoss() completes", () -> notified.stream().allMatch(CompletableFuture::isDone));
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken("onLoss() does not complete");
    }
  }

  private static CompletableFuture<Boolean> isHeldWhenNotified(Lease lease) {
    return lease.onLoss().thenApply(reason -> lease.isHeld());
  }

  private static @Nullable LossReason reasonOf(Lease lease) {
    LockLostException lost = catchThrowableOfType(LockLostException.class, lease::requireHeld);
    return lost == null ? null : lost.reason();
  }
}
