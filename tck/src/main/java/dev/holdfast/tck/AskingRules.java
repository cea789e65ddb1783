package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * All ways to ask for a lock serve the same request alike. The first of them, {@code tryAcquire},
 * is proved by the other rules; these compare the others with it.
 */
abstract class AskingRules {
  private static final Duration HOUR = Duration.ofHours(1);

  final Trial trial;

  AskingRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes the request's label on")
  void everyWayToAskShowsTheOwner() throws InterruptedException {
    trial.needs(LockCapability.INSPECTION);
    LockManager locks = trial.open();
    LockManager operator = trial.open();

    for (AskingWay way : ways()) {
      LockRequest request = viewable(way, request("owned")).owner("owner by " + way);
      Holding holding = Holding.of(trial, way, locks, request);

      assertServed(
          holding,
          "its owner is seen",
          () ->
              operator
                  .inspect(request.name())
                  .map(LockStatus::owner)
                  .equals(Optional.of("owner by " + way)));
      holding.giveBack();
    }
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes the request's ttl on")
  void everyWayToAskGivesTheTtl() {
    LockManager locks = trial.open();
    Duration ttl = trial.ttl().dividedBy(3);

    for (AskingWay way : ways()) {
      LockRequest request = viewable(way, LockRequest.of(trial.name("ttl"), ttl));
      Holding holding = Holding.of(trial, way, locks, request);

      holding
          .lease()
          .ifPresent(
              lease ->
                  assertServed(
                      holding,
                      "it is valid for its ttl",
                      () -> isNearly(lease.remaining(), ttl) && lease.isHeld()));
      if (!trial.nodes().isEmpty()) {
        assertServed(
            holding,
            "nodes keep it for its ttl",
            () ->
                trial.nodes().stream()
                    .filter(node -> node.holder(request.name()).isPresent())
                    .allMatch(node -> isNearly(node.timeToLive(request.name()), ttl)));
      }
      holding.giveBack();
    }
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask has a lease renewed that was asked for so")
  void everyWayToAskKeepsAlive() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration ttl = trial.shortTtl();
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();

    Tries.anyOf(
        () -> {
          List<Holding> holdings = new ArrayList<>();
          for (AskingWay way : AskingWay.values()) {
            LockRequest request = LockRequest.of(trial.name("kept"), ttl).keepAliveUpTo(HOUR);
            holdings.add(Holding.asking(trial, way, locks, request));
          }
          holdings.forEach(Holding::awaitHeld);
          long begun = System.nanoTime();
          trial
              .soon()
              .until("their ttl is over", () -> isPast(begun, ttl.multipliedBy(5).dividedBy(4)));

          for (Holding holding : holdings) {
            boolean kept =
                holding.lease().map(Lease::isHeld).orElse(true)
                    && !trial.gets(other, holding.name());
            if (!kept && holding.way() == AskingWay.TRY_ACQUIRE) {
              trial.needsRenewals();
            }
            assertThat(kept).as("held after its ttl, got by %s", holding.way()).isTrue();
          }
          holdings.forEach(Holding::giveBack);
        });
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask has a lease end with its longest hold")
  void everyWayToAskLimitsTheHold() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration ttl = trial.briefTtl();
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();
    List<Holding> holdings = new ArrayList<>();
    for (AskingWay way : AskingWay.values()) {
      LockRequest request =
          LockRequest.of(trial.name("limited"), ttl).keepAliveUpTo(ttl.multipliedBy(2));
      holdings.add(Holding.asking(trial, way, locks, request));
    }
    holdings.forEach(Holding::awaitHeld);
    long begun = System.nanoTime();
    trial.soon().until("their time is over", () -> isPast(begun, ttl.multipliedBy(3)));

    for (Holding holding : holdings) {
      assertServed(
          holding,
          "others get it after its longest hold",
          () -> comes(() -> trial.gets(other, holding.name())));
    }
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes holdAtLeast on, and every end keeps it")
  void everyWayToAskHoldsAtLeast() throws InterruptedException {
    trial.needs(LockCapability.HOLD_AT_LEAST);
    LockManager locks = trial.open();
    LockManager other = trial.open();

    for (AskingWay way : ways()) {
      LockRequest request = viewable(way, request("at-least")).holdAtLeast(trial.ttl());
      Holding holding = Holding.of(trial, way, locks, request);
      holding.giveBack();

      assertServed(
          holding, "others are kept out for as long", () -> !trial.gets(other, holding.name()));
    }
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that nothing is remembered of a request beyond the call, such as a deadline")
  void theLongestHoldOfARequestThatIsUsedAgainBeginsAgain() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration ttl = trial.shortTtl().dividedBy(2);
    LockManager locks = trial.openForShortTtl();

    Tries.anyOf(
        () -> {
          LockRequest request =
              LockRequest.of(trial.name("again"), ttl).keepAliveUpTo(ttl.multipliedBy(3));
          long begun = System.nanoTime();
          Attempts.giveBack(trial, trial.take(locks, request));
          trial.soon().until("most of its hold is over", () -> isPast(begun, ttl.multipliedBy(2)));
          Lease again = trial.take(locks, request);
          long granted = System.nanoTime();
          trial
              .soon()
              .until(
                  "it is held for longer than was left, or over",
                  () -> !again.isHeld() || isPast(granted, ttl.multipliedBy(2)));
          if (!again.isHeld()) {
            trial.needsRenewals();
          }

          assertThat(again.isHeld()).as("held for as long as the first time").isTrue();
          Trial.regardless(again::release);
        });
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that the time to wait is counted from each call, not from the first")
  void aRequestThatIsUsedAgainWaitsAgain() throws InterruptedException {
    Duration wait = trial.allowance().dividedBy(2);
    LockManager locks = trial.open();
    Lease lease = trial.take(trial.open(), trial.name("held"), trial.ttl());
    LockRequest request = LockRequest.of(lease.name(), trial.ttl()).waitAtMost(wait);

    Duration first = timeOf(() -> locks.tryAcquire(request));
    Duration second = timeOf(() -> locks.tryAcquire(request));
    if (first.compareTo(wait) < 0) {
      abort("a waiter gives up before its time, which is another rule's");
    }

    assertThat(second).as("time that the second wait in vain took").isGreaterThanOrEqualTo(wait);
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that equal requests that are under way are not taken for one")
  void oneRequestThatIsUsedAtTheSameTimeIsGrantedToEachByItself() {
    LockManager locks = trial.open();
    Lease first = trial.take(locks, trial.name("shared"), trial.ttl());
    LockRequest request = LockRequest.of(first.name(), trial.ttl()).waitForever();
    int waiters = 5;
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    Queue<Lease> granted = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < waiters; i++) {
      CompletableFuture<Optional<Lease>> waiter = locks.tryAcquireAsync(request);
      waiting.add(waiter);
      waiter.thenAccept(lease -> lease.ifPresent(granted::add));
    }

    Trial.regardless(first::release);
    // by their identity: tokens that are time stamps can be the same
    Set<Lease> different = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 1; i <= waiters; i++) {
      int nth = i;
      trial.awaitRegardless("one more is granted", () -> granted.size() >= nth);
      List<Lease> held = granted.stream().filter(Lease::isHeld).toList();
      assertThat(held).as("leases that are held at the same time").hasSizeLessThanOrEqualTo(1);
      different.addAll(granted);
      held.forEach(lease -> Trial.regardless(lease::release));
    }

    if (granted.size() < waiters && !everybodyGetsItsTurn(locks, waiters)) {
      abort("a waiter is never served, which is another rule's");
    }
    assertThat(different).as("leases of %d waiters", waiters).hasSize(waiters);
    waiting.forEach(waiter -> waiter.cancel(true));
  }

  /** Requests that differ in nothing but that they are no one object, nor equal. */
  private boolean everybodyGetsItsTurn(LockManager locks, int waiters) {
    Lease first = trial.take(locks, trial.name("turns"), trial.ttl());
    Queue<Lease> granted = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < waiters; i++) {
      LockRequest request = LockRequest.of(first.name(), trial.ttl().minusMillis(i)).waitForever();
      locks
          .tryAcquireAsync(request)
          .thenAccept(
              lease ->
                  lease.ifPresent(
                      one -> {
                        granted.add(one);
                        one.releaseAsync();
                      }));
    }
    Trial.regardless(first::release);
    trial.awaitRegardless("all are granted", () -> granted.size() >= waiters);
    return granted.size() >= waiters;
  }

  /** Views need KEEP_ALIVE. */
  private List<AskingWay> ways() {
    return trial.declares(LockCapability.KEEP_ALIVE)
        ? Stream.of(AskingWay.values()).toList()
        : AskingWay.withLeases();
  }

  private LockRequest request(String end) {
    return LockRequest.of(trial.name(end), trial.ttl());
  }

  private static LockRequest viewable(AskingWay way, LockRequest request) {
    return way.isView() ? request.keepAliveUpTo(HOUR) : request;
  }

  /** Leaves the test out if the first way is wrong as well, because that is another rule's. */
  private static void assertServed(Holding holding, String what, Callable<Boolean> condition) {
    boolean served;
    try {
      served = condition.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    if (!served && holding.way() == AskingWay.TRY_ACQUIRE) {
      abort("it is not so by tryAcquire either, which is another rule's: " + what);
    }
    assertThat(served).as("%s, where it was got by %s", what, holding.way()).isTrue();
  }

  private boolean comes(Callable<Boolean> condition) {
    try {
      trial.soon().until("it comes to be so", condition);
      return true;
    } catch (AssertionError never) {
      return false;
    }
  }

  /** No other duration that is in use here is as near. */
  private static boolean isNearly(Duration left, Duration ttl) {
    return left.compareTo(ttl) <= 0 && left.compareTo(ttl.multipliedBy(2).dividedBy(3)) > 0;
  }

  private static boolean isPast(long since, Duration time) {
    return Elapsed.since(since).compareTo(time) > 0;
  }

  private static Duration timeOf(Eventually.Assertions call) {
    long begun = System.nanoTime();
    Trial.regardless(call);
    return Elapsed.since(begun);
  }
}
