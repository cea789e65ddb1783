package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A holder hears of the end of its lease. */
abstract class LossRules {
  private static final Duration HOUR = Duration.ofHours(1);

  /** More callbacks than a pool of threads has that somebody thought to be large. */
  private static final int BLOCKED = 50;

  final Trial trial;

  LossRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that somebody watches for the end of a lease, and completes lost()")
  void theHolderHearsThatALeaseHasExpired() {
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("expires"), trial.briefTtl());
    CompletionStage<LossReason> asked = lease.lost();

    LossReason reason = trial.soon().get("lost() completes", asked);

    assertThat(reason).isEqualTo(reasonOf(lease));
    assertThat(trial.soon().get("lost() that is asked later completes", lease.lost()))
        .isEqualTo(reason);
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that the end that is watched for moves with an extension")
  void theHolderHearsThatAnExtendedLeaseHasExpired() {
    trial.needs(LockCapability.EXTENSION);
    Duration ttl = trial.briefTtl();
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("expires"), ttl);
    Trial.regardless(() -> lease.extend(ttl.multipliedBy(3).dividedBy(2)));

    LossReason reason = trial.soon().get("lost() completes", lease.lost());

    assertThat(reason).isEqualTo(reasonOf(lease));
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that lost() completes when an extension finds that the lock is not held")
  void theHolderHearsOfALossThatAnExtensionFinds() {
    trial.needs(LockCapability.EXTENSION);
    Lease lease = lostToAnotherOwner(trial.open());

    LossReason reason = trial.soon().get("lost() completes", lease.lost());

    assertThat(reason).isEqualTo(reasonOf(lease));
  }

  @Test
  @Rule("LOSS-2")
  @IfThisFails("check that all stages of one lease are completed once, by one loss")
  void aLossIsToldOnceAndTheSameToAll() {
    LockManager locks = trial.openForShortTtl();
    Lease lease = trial.take(locks, trial.name("once"), trial.briefTtl());
    List<LossReason> told = new CopyOnWriteArrayList<>();
    lease.lost().thenAccept(told::add);
    CompletionStage<LossReason> stage = lease.lost();
    stage.thenAccept(told::add);
    stage.thenAccept(told::add);
    awaitLoss(lease);
    lease.lost().thenAccept(told::add);

    Trial.regardless(lease::release);
    Lease open = trial.take(locks, trial.name("open"), trial.ttl());
    locks.close();
    awaitLoss(open);
    lease.lost().thenAccept(told::add);
    trial.awaitRegardless("all are told", () -> told.size() >= 5);

    assertThat(told).hasSizeLessThanOrEqualTo(5);
    assertThat(Collections.frequency(told, told.get(0)))
        .as("those of %s that are the same", told)
        .isEqualTo(told.size());
  }

  @Test
  @Rule("LOSS-2")
  @IfThisFails("check that a release ends the watch for the end of the lease")
  void aReleasedLeaseIsNeverLost() {
    LockManager locks = trial.openForShortTtl();
    Duration ttl = trial.shortTtl().dividedBy(2);
    Lease released = trial.take(locks, trial.name("released"), ttl);
    Lease taken = trial.take(locks, trial.name("taken"), trial.ttl());
    trial.occupy(trial.nodes(), taken.name());
    List<CompletableFuture<LossReason>> lost = new ArrayList<>();
    for (Lease lease : List.of(released, taken)) {
      lost.add(lease.lost().toCompletableFuture());
      boolean held = lease.isHeld();
      Trial.regardless(lease::release);
      if (!held) {
        abort("the lease was over before it could be released");
      }
      lost.add(lease.lost().toCompletableFuture());
    }
    // two that are lost after these would have been: by time, and with the manager
    awaitLoss(trial.take(locks, trial.name("later"), ttl));
    Lease open = trial.take(locks, trial.name("open"), trial.ttl());
    locks.close();
    awaitLoss(open);

    assertThat(lost).as("lost() of leases that were released").noneMatch(CompletableFuture::isDone);
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails("check that a lease is over for its holder before lost() completes, not after")
  void aLeaseThatIsToldToBeLostIsNotHeld() {
    LockManager locks = trial.openForShortTtl();
    List<CompletableFuture<Boolean>> held = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      held.add(isHeldWhenTold(trial.take(locks, trial.name("lost"), trial.briefTtl())));
    }
    awaitAll(held);

    assertThat(held).as("held when lost() completed").noneMatch(CompletableFuture::join);
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails("check that a lease that was taken away is over for its holder when that is told")
  void aLeaseThatIsToldToBeTakenIsNotHeld() {
    trial.needs(LockCapability.EXTENSION);
    trial.needsNodes(1);
    Lease taken = trial.take(trial.open(), trial.name("taken"), trial.ttl());
    CompletableFuture<Boolean> held = isHeldWhenTold(taken);
    trial.occupy(trial.nodes(), taken.name());
    trial.awaitRegardless(
        "it is found out",
        () -> {
          Trial.regardless(() -> taken.extend(trial.ttl()));
          return taken.lost().toCompletableFuture().isDone();
        });
    awaitAll(List.of(held));

    assertThat(held.join()).as("held when lost() completed").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails("check that a lease that was seen to be over stays over, whatever nodes say by then")
  void aLostLeaseIsNotHeldAgainWhenItsTokenIsBack() {
    trial.needsNodes(1);
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("back"), trial.briefTtl());
    trial.awaitOver(lease);

    trial.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), trial.ttl()));

    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("LOSS-3")
  @IfThisFails(
      "check that a lease that was seen to be over stays over, whatever its clock says then")
  void aLostLeaseIsNotHeldAgainWhenTheClockIsSetBack() {
    TckClock clock = trial.needsClock();
    Lease lease = trial.take(trial.open(), trial.name("set-back"), trial.ttl());
    clock.step(trial.ttl());
    if (lease.isHeld()) {
      abort("the lease does not go by the wall clock, which is another rule's");
    }

    clock.step(trial.ttl().negated());

    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease that nobody renews ends by EXPIRED")
  void aLeaseThatNobodyRenewsExpires() {
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("expires"), trial.briefTtl());
    trial.awaitOver(lease);

    assertThat(reasonOf(lease)).isEqualTo(LossReason.EXPIRED);
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a renewal tells another owner's token from none")
  void aLeaseThatARenewalFindsGoneIsTakenOrRemoved() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needsNodes(1);
    Duration ttl = trial.shortTtl().multipliedBy(3).dividedBy(2);
    LockManager locks = trial.openForShortTtl();

    Tries.anyOf(
        () -> {
          Lease taken =
              trial.take(locks, LockRequest.of(trial.name("taken"), ttl).keepAliveUpTo(HOUR));
          Lease removed =
              trial.take(locks, LockRequest.of(trial.name("removed"), ttl).keepAliveUpTo(HOUR));
          trial.lose(trial.nodes(), removed.name());
          trial.occupy(trial.nodes(), taken.name());
          trial.awaitRegardless("they are lost", () -> !taken.isHeld() && !removed.isHeld());
          if (taken.isHeld() || removed.isHeld()) {
            abort("a renewal finds no loss, which is another rule's");
          }
          if (reasonOf(taken) == LossReason.EXPIRED) {
            trial.needsRenewals();
          }

          assertThat(reasonOf(taken)).isEqualTo(LossReason.TAKEN);
          assertThat(reasonOf(removed)).isEqualTo(LossReason.REMOVED);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease whose renewals nobody answered ends by UNREACHABLE")
  void aLeaseWhoseRenewalsNobodyAnsweredIsUnreachable() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    Duration timeout = trial.shortTtl().dividedBy(12);
    LockManager locks = trial.open("nodeTimeout=" + timeout.toMillis() + "ms");

    Tries.anyOf(
        () -> {
          String name = trial.name("cut-off");
          Lease lease =
              trial.take(locks, LockRequest.of(name, trial.shortTtl()).keepAliveUpTo(HOUR));
          trial.begin(TckFault.FROZEN, trial.nodes(), name);
          trial.awaitOver(lease);
          trial.end(TckFault.FROZEN, trial.nodes(), name);
          if (reasonOf(lease) == LossReason.EXPIRED) {
            trial.needsRenewals();
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.UNREACHABLE);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease that is not renewed because of keepAliveUpTo ends by MAX_HOLD")
  void aLeaseAtTheEndOfItsLongestHoldSaysSo() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration ttl = trial.shortTtl().dividedBy(2);
    LockManager locks = trial.openForShortTtl();

    Tries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(trial.name("limited"), ttl).keepAliveUpTo(ttl);
          Lease lease = trial.take(locks, request);
          trial.awaitOver(lease);
          if (reasonOf(lease) == LossReason.EXPIRED) {
            trial.needsRenewals();
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.MAX_HOLD);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease whose manager was closed ends by CLOSED")
  void aLeaseOfAClosedManagerSaysSo() {
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, trial.name("open"), trial.ttl());

    locks.close();
    if (reasonOf(lease) == null) {
      abort("the lease goes on, which is another rule's");
    }

    assertThat(reasonOf(lease)).isEqualTo(LossReason.CLOSED);
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that callbacks of lost() run on no thread that anything else waits for")
  void aCallbackOfLostThatBlocksDelaysNoOtherLease() {
    LockManager locks = trial.openForShortTtl();
    Blocking callbacks = new Blocking();
    for (int i = 0; i < BLOCKED; i++) {
      Lease lease = trial.take(locks, trial.name("blocks"), trial.briefTtl());
      callbacks.block(lease::lost);
    }
    if (!callbacks.isOneBlocked()) {
      abort("lost() does not complete, which is another rule's");
    }

    assertThat(callbacks.areBlocked()).as("all are told, though none comes back").isTrue();
    assertGoesOn(locks);
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that renewals run on no thread that a callback can block")
  void aCallbackThatBlocksDelaysNoRenewal() {
    trial.needs(LockCapability.KEEP_ALIVE);
    LockManager locks = trial.openForShortTtl();
    Blocking callbacks = new Blocking();
    callbacks.block(trial.take(locks, trial.name("blocks"), trial.briefTtl())::lost);
    if (!callbacks.areBlocked()) {
      abort("lost() does not complete, which is another rule's");
    }

    Tries.anyOf(
        () -> {
          LockRequest request =
              LockRequest.of(trial.name("kept"), trial.shortTtl()).keepAliveUpTo(HOUR);
          Lease lease = trial.take(locks, request);
          long begun = System.nanoTime();
          trial
              .soon()
              .until(
                  "it is renewed, or over",
                  () ->
                      !lease.isHeld()
                          || System.nanoTime() - begun > 5 * trial.shortTtl().toNanos() / 4);
          if (!lease.isHeld()) {
            trial.needsRenewals();
          }

          assertThat(lease.isHeld()).as("renewed in time").isTrue();
        });
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that stages complete on no thread that anything else waits for")
  void aCallbackOfAStageThatBlocksDelaysNobody() {
    LockManager locks = trial.openForShortTtl();
    Blocking callbacks = new Blocking();
    Lease held = trial.take(locks, trial.name("handed-over"), trial.ttl());
    LockRequest waiting = LockRequest.of(held.name(), trial.ttl()).waitForever();
    callbacks.block(() -> locks.tryAcquireAsync(waiting));
    Lease asked = trial.take(locks, trial.name("asked"), trial.ttl());
    if (trial.declares(LockCapability.EXTENSION)) {
      callbacks.block(() -> asked.extendAsync(trial.ttl()));
    }
    callbacks.block(asked::releaseAsync);
    // by a thread of its own, in case that the waiter's callback is called by it
    CompletableFuture<?> released =
        CompletableFuture.runAsync(() -> Trial.regardless(held::release));
    if (!callbacks.areBlocked()) {
      abort("a stage does not complete, which is another rule's");
    }

    trial.soon().until("release() returns", released::isDone);
    assertGoesOn(locks);
  }

  @Test
  @Rule("LOSS-6")
  @IfThisFails(
      "check that the end of a lease is watched for by a timer, and not looked for at times")
  void aLossIsToldOfWithinMillisecondsOfItsTime() {
    LockManager locks = trial.openForShortTtl();

    Tries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            List<Duration> delays = delaysOf(6, locks);
            Duration limit = Duration.ofMillis(10).plus(stalls.worst());

            assertThat(delays.get(0)).as("the shortest delay of %s", delays).isLessThan(limit);
            assertThat(delays.get(delays.size() - 1))
                .as("the longest delay of %s", delays)
                .isLessThan(limit.plus(trial.allowance()));
          }
        });
  }

  @Test
  @Rule("LOSS-7")
  @IfThisFails("check that somebody notices when the wall clock goes ahead of the monotonic clock")
  void aLossByTheWallClockIsToldWithinASecond() {
    TckClock clock = trial.needsClock();
    LockManager locks = trial.open();
    awaitLoss(trial.take(trial.openForShortTtl(), trial.name("control"), trial.briefTtl()));

    Tries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Lease lease = trial.take(locks, trial.name("sleeps"), trial.ttl());
            CompletableFuture<Long> told =
                lease.lost().thenApply(reason -> System.nanoTime()).toCompletableFuture();
            long stepped = System.nanoTime();
            clock.step(trial.ttl());
            trial.awaitRegardless("lost() completes", told::isDone);
            Duration limit = Duration.ofSeconds(1).plus(stalls.worst()).plus(trial.allowance());

            assertThat(told).as("lost() completes").isDone();
            assertThat(Duration.ofNanos(told.join() - stepped)).isLessThan(limit);
          }
        });
  }

  /** Callbacks that come back at the end of the test. */
  private final class Blocking {
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<CountDownLatch> blocked = new ArrayList<>();

    Blocking() {
      trial.atEnd(end::countDown);
    }

    /** From a thread of its own, because who comes late to a stage is called back by itself. */
    void block(Supplier<? extends CompletionStage<?>> stage) {
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
      trial.awaitRegardless(
          "a callback is called", () -> blocked.stream().anyMatch(one -> one.getCount() == 0));
      return blocked.stream().anyMatch(one -> one.getCount() == 0);
    }

    boolean areBlocked() {
      trial.awaitRegardless(
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

  /** From the ends of some leases, one after the other, to the news of them; the shortest first. */
  private List<Duration> delaysOf(int count, LockManager locks) {
    List<CompletableFuture<Duration>> delays = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Duration ttl = trial.briefTtl().plusMillis(23L * i);
      Lease lease = trial.take(locks, trial.name("ends"), ttl);
      Duration remaining = lease.remaining();
      long end = System.nanoTime() + remaining.toNanos();
      delays.add(
          lease
              .lost()
              .thenApply(reason -> Duration.ofNanos(System.nanoTime() - end))
              .toCompletableFuture());
    }
    awaitAll(delays);
    return delays.stream().map(CompletableFuture::join).sorted().toList();
  }

  /** Others are granted, released, extended and told of their loss. */
  private void assertGoesOn(LockManager locks) {
    CompletableFuture<Lease> next =
        CompletableFuture.supplyAsync(
            () -> {
              Lease lease = trial.take(locks, trial.name("next"), trial.ttl());
              Trial.regardless(lease::release);
              return trial.take(locks, trial.name("next"), trial.briefTtl());
            });
    Lease lease = trial.soon().get("another lease is granted and released", next);
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    trial.awaitRegardless("another lease is lost in time", lost::isDone);
    if (!lost.isDone()) {
      awaitLoss(trial.take(trial.openForShortTtl(), trial.name("control"), trial.briefTtl()));
    }
    assertThat(lost).as("another lease is lost in time").isDone();
  }

  /** A lease of which an extension finds that another owner has it. */
  private Lease lostToAnotherOwner(LockManager locks) {
    trial.needsNodes(1);
    Lease lease = trial.take(locks, trial.name("taken"), trial.ttl());
    trial.occupy(trial.nodes(), lease.name());
    Trial.regardless(() -> lease.extend(trial.ttl()));
    if (lease.isHeld()) {
      abort("the lease is not lost, which is another rule's");
    }
    return lease;
  }

  /** Waits until the holder has been told; leaves the test out if that is never. */
  private void awaitLoss(Lease lease) {
    awaitAll(List.of(lease.lost().toCompletableFuture()));
  }

  private void awaitAll(List<? extends CompletableFuture<?>> told) {
    try {
      trial
          .soon()
          .until("lost() completes", () -> told.stream().allMatch(CompletableFuture::isDone));
    } catch (AssertionError e) {
      abort("lost() does not complete, which is another rule's");
    }
  }

  private static CompletableFuture<Boolean> isHeldWhenTold(Lease lease) {
    return lease.lost().thenApply(reason -> lease.isHeld()).toCompletableFuture();
  }

  private static @Nullable LossReason reasonOf(Lease lease) {
    LockLostException lost = catchThrowableOfType(LockLostException.class, lease::requireHeld);
    return lost == null ? null : lost.reason();
  }
}
