package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.Rule;
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
 * The rules about the ways to ask for a lock, all of which serve the same request alike. Other
 * rules prove the first way, {@code tryAcquire}. These rules compare the others with it.
 */
public abstract class AskingRules {
  private static final Duration HOUR = Duration.ofHours(1);

  final TckFixture fixture;

  public AskingRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes the request's label on")
  void everyKindOfRequestShowsTheOwner() throws InterruptedException {
    Needs.of(fixture, LockCapability.INSPECTION);
    LockManager locks = fixture.open();
    LockManager operator = fixture.open();

    for (AskingWay way : ways()) {
      for (LockRequest request : requests(way, "owned", fixture.ttl())) {
        Holding holding = Holding.of(fixture, way, locks, request.ownerLabel("Łódź 東京 by " + way));

        assertServed(
            holding,
            "its owner is seen",
            () ->
                operator
                    .inspect(request.name())
                    .map(LockStatus::ownerLabel)
                    .equals(Optional.of("Łódź 東京 by " + way)));
        holding.release();
      }
    }
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes the request's ttl on")
  void everyKindOfRequestGivesTheTtl() {
    LockManager locks = fixture.open();
    List<Duration> ttls = List.of(fixture.ttl(), fixture.ttl().multipliedBy(2));
    ttls.forEach(ttl -> needsTimesToLive(locks, ttl));

    for (AskingWay way : ways()) {
      for (Duration ttl : ttls) {
        for (LockRequest request : requests(way, "ttl", ttl)) {
          Holding holding = Holding.of(fixture, way, locks, request);
          String asked = request + " by " + way;
          holding
              .lease()
              .ifPresent(
                  lease -> {
                    assertThat(lease.isHeld()).as("held: %s", asked).isTrue();
                    assertThat(lease.remaining())
                        .as("the remaining time of %s", asked)
                        .matches(remaining -> isNearly(remaining, ttl));
                  });
          assertThat(fixture.nodes())
              .filteredOn(node -> node.holder(request.name()).isPresent())
              .as("nodes that keep it for its ttl: %s", asked)
              .allMatch(node -> isNearly(node.timeToLive(request.name()), ttl));
          holding.release();
        }
      }
    }
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask has a lease renewed that was asked for so")
  void everyKindOfRequestKeepsAlive() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          List<Holding> holdings = new ArrayList<>();
          for (AskingWay way : AskingWay.values()) {
            LockRequest request = LockRequest.of(fixture.name("kept"), ttl).keepAliveUpTo(HOUR);
            holdings.add(Holding.asking(fixture, way, locks, request.ownerLabel("by " + way)));
          }
          holdings.forEach(Holding::awaitHeld);
          long begun = System.nanoTime();
          fixture
              .soon()
              .until("their ttl is over", () -> isPast(begun, ttl.multipliedBy(5).dividedBy(4)));

          for (Holding holding : holdings) {
            boolean kept =
                holding.lease().map(Lease::isHeld).orElse(true)
                    && !fixture.gets(other, holding.name());
            if (!kept && holding.way() == AskingWay.TRY_ACQUIRE) {
              Renewals.needed(fixture);
            }
            assertThat(kept).as("held after its ttl, got by %s", holding.way()).isTrue();
          }
          holdings.forEach(Holding::release);
        });
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask has a lease end with its longest hold")
  void everyKindOfRequestLimitsTheHold() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    Retries.anyOf(
        fixture.briefTtl(),
        ttl -> {
          List<Holding> holdings = new ArrayList<>();
          for (AskingWay way : AskingWay.values()) {
            LockRequest request =
                LockRequest.of(fixture.name("limited"), ttl).keepAliveUpTo(ttl.multipliedBy(2));
            holdings.add(Holding.asking(fixture, way, locks, request));
          }
          holdings.forEach(Holding::awaitHeld);
          long begun = System.nanoTime();
          fixture.soon().until("their time is over", () -> isPast(begun, ttl.multipliedBy(3)));

          for (Holding holding : holdings) {
            assertServed(
                holding,
                "others get it after its longest hold",
                () -> comes(() -> fixture.gets(other, holding.name())));
          }
        });
  }

  @Test
  @Rule("ACQ-16")
  @IfThisFails("check that every way to ask passes holdAtLeast on, and every end keeps it")
  void everyKindOfRequestHoldsAtLeast() throws InterruptedException {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    for (AskingWay way : ways()) {
      for (LockRequest request : requests(way, "at-least", fixture.ttl())) {
        Holding holding = Holding.of(fixture, way, locks, request.holdAtLeast(fixture.ttl()));
        holding.release();

        assertServed(
            holding, "others are kept out for as long", () -> !fixture.gets(other, holding.name()));
      }
    }
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that nothing is remembered of a request beyond the call, such as a deadline")
  void theLongestHoldOfARequestThatIsUsedAgainBeginsAgain() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();

    Retries.anyOf(
        fixture.shortTtl().dividedBy(2),
        ttl -> {
          LockRequest request =
              LockRequest.of(fixture.name("again"), ttl).keepAliveUpTo(ttl.multipliedBy(3));
          long begun = System.nanoTime();
          Attempts.release(fixture, fixture.take(locks, request));
          fixture
              .soon()
              .until("most of its hold is over", () -> isPast(begun, ttl.multipliedBy(2)));
          Lease again = fixture.take(locks, request);
          long granted = System.nanoTime();
          fixture
              .soon()
              .until(
                  "it is held for longer than was left, or over",
                  () -> !again.isHeld() || isPast(granted, ttl.multipliedBy(2)));
          if (!again.isHeld()) {
            Renewals.needed(fixture);
          }

          assertThat(again.isHeld()).as("held for as long as the first time").isTrue();
          TckFixture.regardless(again::release);
        });
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that the time to wait is counted from each call, not from the first")
  void aRequestThatIsUsedAgainWaitsAgain() throws InterruptedException {
    Duration wait = fixture.allowance().dividedBy(2);
    LockManager locks = fixture.open();
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());
    LockRequest request = LockRequest.of(lease.name(), fixture.ttl()).waitAtMost(wait);

    Duration first = timeOf(() -> locks.tryAcquire(request));
    Duration second = timeOf(() -> locks.tryAcquire(request));
    if (first.compareTo(wait) < 0) {
      AnotherRule.isBroken("a waiter gives up before its time");
    }

    assertThat(second)
        .as("time that the second wait without success took")
        .isGreaterThanOrEqualTo(wait);
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that a deadline belongs to a call, not to its request or to an equal one")
  void oneRequestInTwoThreadsWaitsItsTimeInEach() {
    Duration wait = fixture.allowance();
    LockManager locks = fixture.open();
    List<Call<Optional<Lease>>> first = new ArrayList<>();
    List<Call<Optional<Lease>>> second = new ArrayList<>();
    List<Call<Optional<Lease>>> alone = new ArrayList<>();
    List<Runnable> later = new ArrayList<>();
    for (Asking way : Asking.values()) {
      for (boolean same : new boolean[] {true, false}) {
        String name = fixture.name("shared");
        Contender.holding(fixture, name);
        LockRequest request = fixture.request(name).waitAtMost(wait);
        LockRequest equal = same ? request : fixture.request(name).waitAtMost(wait);
        first.add(Call.begin(() -> way.ask(locks, request)));
        later.add(() -> second.add(Call.begin(() -> way.ask(locks, equal))));
      }
      String name = fixture.name("alone");
      Contender.holding(fixture, name);
      later.add(() -> alone.add(Call.begin(() -> way.ask(locks, request(name, wait)))));
    }
    Attempts.stays(() -> true);
    later.forEach(Runnable::run);
    for (List<Call<Optional<Lease>>> calls : List.of(alone, first, second)) {
      fixture.awaitRegardless("a wait is over", () -> calls.stream().allMatch(Call::isOver));
    }
    if (!alone.stream().allMatch(call -> isWaitedFor(call, wait))) {
      AnotherRule.isBroken("a waiter gives up before its time");
    }

    assertThat(first).as("the calls that came first").allMatch(call -> isWaitedFor(call, wait));
    assertThat(second).as("the calls that came later").allMatch(call -> isWaitedFor(call, wait));
  }

  @Test
  @Rule("ACQ-17")
  @IfThisFails("check that equal requests in flight are not treated as one")
  void oneRequestThatIsUsedAtTheSameTimeIsGrantedToEachByItself() {
    LockManager locks = fixture.open();
    Lease first = fixture.take(locks, fixture.name("shared"), fixture.ttl());
    LockRequest request = LockRequest.of(first.name(), fixture.ttl()).waitForever();
    int waiters = 5;
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    Queue<Lease> granted = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < waiters; i++) {
      CompletableFuture<Optional<Lease>> waiter = locks.tryAcquireAsync(request);
      waiting.add(waiter);
      waiter.thenAccept(lease -> lease.ifPresent(granted::add));
    }

    TckFixture.regardless(first::release);
    // by their identity: tokens that are time stamps can be the same
    Set<Lease> different = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 1; i <= waiters; i++) {
      int nth = i;
      fixture.awaitRegardless("one more is granted", () -> granted.size() >= nth);
      List<Lease> held = granted.stream().filter(Lease::isHeld).toList();
      assertThat(held).as("leases that are held at the same time").hasSizeLessThanOrEqualTo(1);
      different.addAll(granted);
      held.forEach(lease -> TckFixture.regardless(lease::release));
    }

    if (granted.size() < waiters && !everyWaiterGetsItsTurn(locks, waiters)) {
      AnotherRule.isBroken("a waiter is never served");
    }
    assertThat(different).as("leases of %d waiters", waiters).hasSize(waiters);
    waiting.forEach(waiter -> waiter.cancel(true));
  }

  /**
   * Returns whether all waiters are served. Their requests are neither the same object nor equal.
   */
  private boolean everyWaiterGetsItsTurn(LockManager locks, int waiters) {
    Lease first = fixture.take(locks, fixture.name("turns"), fixture.ttl());
    Queue<Lease> granted = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < waiters; i++) {
      LockRequest request =
          LockRequest.of(first.name(), fixture.ttl().minusMillis(i)).waitForever();
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
    TckFixture.regardless(first::release);
    fixture.awaitRegardless("all are granted", () -> granted.size() >= waiters);
    return granted.size() >= waiters;
  }

  /** Leaves the test out where nodes keep every lock for another time than its ttl. */
  private void needsTimesToLive(LockManager locks, Duration ttl) {
    String name = fixture.name("probe");
    Lease probe = OnNodes.take(fixture, locks, name, ttl);
    if (!fixture.nodes().stream().allMatch(node -> isNearly(node.timeToLive(name), ttl))) {
      AnotherRule.isBroken("nodes keep a lock for another time than its ttl");
    }
    Attempts.release(fixture, probe);
  }

  /** Returns the ways that the backend supports. Views need KEEP_ALIVE. */
  private List<AskingWay> ways() {
    return fixture.declares(LockCapability.KEEP_ALIVE)
        ? Stream.of(AskingWay.values()).toList()
        : AskingWay.withLeases();
  }

  /** Returns requests without other settings and with them, each for a name of its own. */
  private List<LockRequest> requests(AskingWay way, String end, Duration ttl) {
    List<LockRequest> requests = new ArrayList<>();
    requests.add(viewable(way, LockRequest.of(fixture.name(end), ttl)));
    if (fixture.declares(LockCapability.KEEP_ALIVE)) {
      requests.add(
          LockRequest.of(fixture.name(end), ttl).ownerLabel("renewed").keepAliveUpTo(HOUR));
    }
    return requests;
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
      AnotherRule.isBroken("it is not so by tryAcquire either: " + what);
    }
    assertThat(served).as("%s, where it was acquired by %s", what, holding.way()).isTrue();
  }

  private boolean comes(Callable<Boolean> condition) {
    try {
      fixture.soon().until("it comes to be so", condition);
      return true;
    } catch (AssertionError never) {
      IgnoredFailures.add(never);
      return false;
    }
  }

  /**
   * Tells whether this is the rest of that ttl: no other duration that is in use here is as near.
   * Allows for the rounding of the end of a lock to the next millisecond.
   */
  private static boolean isNearly(Duration left, Duration ttl) {
    return left.compareTo(ttl.plusMillis(1)) <= 0
        && left.compareTo(ttl.multipliedBy(2).dividedBy(3)) > 0;
  }

  private static boolean isPast(long since, Duration time) {
    return Elapsed.since(since).compareTo(time) > 0;
  }

  private LockRequest request(String name, Duration wait) {
    return LockRequest.of(name, fixture.ttl()).waitAtMost(wait);
  }

  /** Returns whether a call ended no sooner than its wait, except for the tick of a clock. */
  private static boolean isWaitedFor(Call<?> call, Duration wait) {
    return call.isOver() && call.took().compareTo(wait.minusMillis(2)) >= 0;
  }

  private static Duration timeOf(Eventually.Assertions call) {
    long begun = System.nanoTime();
    TckFixture.regardless(call);
    return Elapsed.since(begun);
  }
}
