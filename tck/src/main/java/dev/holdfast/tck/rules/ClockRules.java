package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rules about the wall clock, which is set while calls wait and while leases are renewed. */
public abstract class ClockRules {
  private static final Duration WAIT = Duration.ofMillis(300);

  /** The error of a clock that ticks in milliseconds. */
  private static final Duration TICK = Duration.ofMillis(1);

  private static final Duration HOUR = Duration.ofHours(1);

  /** The time that a busy machine may add. The steps of the clock are longer by far. */
  private static final Duration BUSY = Duration.ofSeconds(5);

  final TckFixture fixture;

  public ClockRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that a wait is measured by the monotonic clock alone")
  void aWaitDoesNotChangeWithTheWallClock() {
    TckClock clock = Needs.clock(fixture);
    LockManager locks = fixture.open();
    for (Duration step : List.of(HOUR, HOUR.multipliedBy(-2))) {
      if (!isInTime(locks, () -> {})) {
        AnotherRule.isBroken("a wait is too short or too long though no clock is set");
      }
      assertThat(isInTime(locks, () -> clock.step(step)))
          .as("whether waits last %s though the wall clock is set by %s", WAIT, step)
          .isTrue();
    }
  }

  /**
   * Returns whether all ways to wait last as long as they should while something happens. A waiter
   * that gets the lock does not count: the old lock with time stamps ends by the wall clock.
   */
  private boolean isInTime(LockManager locks, Runnable happens) {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    try (Stalls stalls = Stalls.watched()) {
      List<Call<Optional<Lease>>> calls = new ArrayList<>();
      for (Asking way : Asking.values()) {
        LockRequest request = fixture.request(name).waitAtMost(WAIT);
        calls.add(Call.begin(() -> way.ask(locks, request)));
      }
      fixture.soon().until("all wait", () -> calls.stream().allMatch(Call::isWaitingOrOver));
      happens.run();
      calls.forEach(call -> call.awaited(fixture));
      Duration longest = WAIT.plus(BUSY).plus(stalls.worst());
      return calls.stream()
          .filter(call -> call.result().flatMap(lease -> lease).isEmpty())
          .map(Call::took)
          .allMatch(took -> took.compareTo(WAIT.minus(TICK)) >= 0 && took.compareTo(longest) < 0);
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a back-off is measured by the monotonic clock alone")
  void aWaiterGetsALockThoughTheWallClockIsSetBack() {
    TckClock clock = Needs.clock(fixture);
    LockManager locks = fixture.open();
    Contender contender = Contender.holding(fixture, fixture.name("busy"));
    LockRequest request = fixture.request(contender.name()).waitAtMost(HOUR);
    Call<Lease> waiter = Call.begin(() -> locks.acquire(request));
    fixture.soon().until("it waits", waiter::isWaiting);
    TckFixture.regardless(fixture.take(locks, fixture.name("before"), fixture.ttl())::release);

    clock.step(HOUR.negated());
    contender.letGo();

    assertThat(waiter.awaited(fixture).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("KEEP-1")
  @IfThisFails("check that renewals are due by the monotonic clock, too")
  void aLeaseIsRenewedThoughTheWallClockIsSetBack() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    TckClock clock = Needs.clock(fixture);
    LockManager locks = fixture.open();
    Retries.anyOf(
        () -> {
          String name = fixture.name("kept");
          LockRequest request = LockRequest.of(name, Renewals.TTL).keepAliveUpTo(HOUR);
          Lease lease = fixture.take(locks, request);

          clock.step(HOUR.negated());

          Renewals.await(fixture, List.of(lease));
          assertThat(lease.isHeld()).as("a lease that is kept alive").isTrue();
        });
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that the end of a lease is watched by the monotonic clock, too")
  void aLossIsReportedThoughTheWallClockIsSetBack() {
    TckClock clock = Needs.clock(fixture);
    Lease lease = fixture.take(fixture.openForShortTtl(), fixture.name("lost"), fixture.shortTtl());

    clock.step(HOUR.negated());

    fixture.soon().get("onLoss() completes", lease.onLoss());
  }
}
