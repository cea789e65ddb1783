package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Waits that are no round numbers, very short and very long ones. Each test leaves itself out if a
 * wait of a round number is not as it should be either, because that is another rule's.
 */
public abstract class WaitValueRules {
  /** Error of a clock that ticks in milliseconds. */
  private static final Duration TICK = Duration.ofMillis(1);

  private static final Duration ROUND = Duration.ofSeconds(1);

  /** Rounded to seconds in any way, some of them differ by much. */
  private static final List<Duration> ODD =
      List.of(
          Duration.ofNanos(1),
          Duration.ofNanos(999_999),
          Duration.ofMillis(1),
          Duration.ofNanos(2_999_999),
          Duration.ofMillis(7),
          Duration.ofNanos(33_999_999),
          Duration.ofMillis(253),
          Duration.ofMillis(999),
          Duration.ofMillis(1_010),
          Duration.ofMillis(1_250),
          Duration.ofMillis(1_499));

  private static final int MANY = 30;

  final TckFixture fixture;

  public WaitValueRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  /** One call that waits until its limit without success. */
  private record Waiting(Asking way, Duration longest, Call<Optional<Lease>> call) {
    boolean isEarly() {
      return call.took().compareTo(longest) < 0;
    }

    boolean isInTime(Duration late) {
      return !isEarly() && call.took().compareTo(longest.plus(late)) < 0;
    }

    @Override
    public String toString() {
      return way + " with a wait of " + longest + ": " + call;
    }
  }

  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that a wait is counted in nanoseconds or milliseconds, and is not rounded")
  void anUnsuccessfulWaitTakesAsLongAsRequestedWhateverTheNumber() {
    LockManager locks = fixture.open("retryDelay=100ms");
    assertWaits(locks, () -> held("busy"));
  }

  /**
   * Tries several waits, because a call takes a little longer than its wait, which hides most cuts.
   */
  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that no way to ask cuts a wait to milliseconds")
  void noWaitIsCutToMillisecondsInAnyKindOfRequest() throws InterruptedException {
    LockManager locks = fixture.open("retryDelay=100ms", TckFixture.NO_OUTAGE);
    Duration wait = Duration.ofNanos(5_999_999);
    String name = held("cut");

    for (Asking way : Asking.values()) {
      for (int i = 0; i < MANY; i++) {
        long begun = System.nanoTime();
        Optional<Lease> lease = way.ask(locks, request(name, wait));
        Duration took = Elapsed.since(begun);
        if (lease.isPresent()) {
          AnotherRule.isBroken("two owners have the lock");
        }
        assertThat(took).as("time in %s", way).isGreaterThanOrEqualTo(wait);
      }
    }
  }

  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that a wait behind others is as exact as that of the head of the queue")
  void aWaitBehindOthersTakesAsLongAsRequestedWhateverTheNumber() {
    LockManager locks = fixture.open("retryDelay=100ms");
    String line = held("line");
    CompletableFuture<?> ahead = locks.tryAcquireAsync(fixture.request(line).waitForever());

    assertWaits(locks, () -> line);
    ahead.cancel(true);
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that a wait of zero is one attempt, and not a wait without an end")
  void aWaitOfZeroIsOneAttemptInAnyKindOfRequest() {
    LockManager locks = fixture.open("retryDelay=100ms");
    List<Waiting> none =
        Stream.of(Asking.values())
            .map(way -> begin(locks, held("zero"), way, Duration.ZERO))
            .toList();
    Waiting control = begin(locks, held("round"), Asking.TRY_ACQUIRE, ROUND);

    fixture.awaitRegardless("a wait of a second is over", () -> control.call().isOver());
    if (!control.call().isOver()) {
      AnotherRule.isBroken("a wait of a second does not end either");
    }
    fixture.awaitRegardless(
        "waits of zero are over", () -> none.stream().allMatch(one -> one.call().isOver()));
    assertThat(none).as("waits of zero").allMatch(one -> one.call().isOver());
  }

  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that a wait of years fits into the type that it is counted in")
  void aWaitOfYearsIsNotOverAtOnce() {
    LockManager locks = fixture.open("retryDelay=100ms");
    List<Waiting> waiting = new ArrayList<>();
    List<Contender> contenders = new ArrayList<>();
    for (Duration wait : DurationRules.ENDLESS) {
      for (Asking way : Asking.values()) {
        String name = fixture.name("years");
        contenders.add(Contender.holding(fixture, name));
        waiting.add(begin(locks, name, way, wait));
      }
    }
    String name = fixture.name("minute");
    contenders.add(Contender.holding(fixture, name));
    Waiting control = begin(locks, name, Asking.TRY_ACQUIRE, Duration.ofMinutes(1));
    boolean stays = Attempts.stays(() -> waiting.stream().noneMatch(one -> one.call().isOver()));

    if (control.call().isOver()) {
      AnotherRule.isBroken("a wait of a minute is over at once, too: " + control);
    }
    assertThat(stays).as("all of them wait: %s", waiting).isTrue();

    contenders.forEach(Contender::letGo);
    fixture.awaitRegardless("a minute's waiter gets the lock", () -> control.call().isOver());
    if (control.call().result().flatMap(lease -> lease).isEmpty()) {
      AnotherRule.isBroken("a waiter with a wait of a minute does not get the lock either");
    }
    fixture.awaitRegardless(
        "all get theirs", () -> waiting.stream().allMatch(one -> one.call().isOver()));
    assertThat(waiting)
        .as("all get the lock that became free")
        .allMatch(one -> one.call().result().flatMap(lease -> lease).isPresent());
  }

  @Test
  @Rule("WAIT-16")
  @IfThisFails("check that a wait of any length begins with an attempt")
  void aFreeLockIsGrantedAtOnceHoweverLongTheWaitMayBe() throws InterruptedException {
    LockManager locks = fixture.open(TckFixture.NO_OUTAGE);
    List<Duration> waits = new ArrayList<>(ODD);
    waits.addAll(DurationRules.ENDLESS);
    for (Asking way : Asking.values()) {
      if (way.ask(locks, request(fixture.name("free"), ROUND)).isEmpty()) {
        AnotherRule.isBroken("a waiter with a wait of a second does not get it either");
      }
      for (Duration wait : waits) {
        assertThat(way.ask(locks, request(fixture.name("free"), wait)))
            .as("%s of a free lock with a wait of %s", way, wait)
            .isPresent();
      }
    }
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails(
      "check that a grace is counted in milliseconds, and that years of it do not overflow")
  void aGraceTakesAsLongAsRequestedWhateverTheNumber() {
    List<Lease> leases = new ArrayList<>();
    List<Call<?>> years = new ArrayList<>();
    for (Duration grace : DurationRules.ENDLESS) {
      years.add(closing(grace, leases));
    }
    List<Duration> graces =
        List.of(Duration.ofMillis(7), Duration.ofMillis(253), Duration.ofMillis(1_250));
    List<Call<?>> odd = new ArrayList<>();
    for (Duration grace : graces) {
      odd.add(closing(grace, new ArrayList<>()));
    }
    List<Call<?>> none = new ArrayList<>();
    for (Duration grace : List.of(Duration.ZERO, Duration.ofSeconds(Long.MIN_VALUE))) {
      none.add(closing(grace, new ArrayList<>()));
    }

    for (int i = 0; i < odd.size(); i++) {
      assertThat(odd.get(i).awaited(fixture).took())
          .as("a grace of %s", graces.get(i))
          .isGreaterThanOrEqualTo(graces.get(i).minus(TICK));
    }
    none.forEach(call -> call.awaited(fixture));
    assertThat(years).as("they wait: %s", years).noneMatch(Call::isOver);
    assertThat(leases).as("held within a grace").allMatch(Lease::isHeld);
    leases.forEach(lease -> TckFixture.regardless(lease::release));
    years.forEach(call -> call.awaited(fixture));
  }

  /** A way to ask, with a wait. */
  private record Kind(Asking way, Duration longest) {}

  /** Tries again what is late, as on a machine that is too busy, but not what is early. */
  private void assertWaits(LockManager locks, Supplier<String> names) {
    List<Waiting> early = new ArrayList<>();
    List<Kind> notInTime = new ArrayList<>();
    for (Asking way : Asking.values()) {
      ODD.forEach(wait -> notInTime.add(new Kind(way, wait)));
    }
    Retries.anyOf(() -> waitWithoutSuccess(locks, names, notInTime, early));
    assertThat(early).as("over before its time").isEmpty();
  }

  private void waitWithoutSuccess(
      LockManager locks, Supplier<String> names, List<Kind> notInTime, List<Waiting> early) {
    try (Stalls stalls = Stalls.watched()) {
      List<Waiting> round = new ArrayList<>();
      for (Asking way : Asking.values()) {
        round.add(begin(locks, names.get(), way, ROUND));
      }
      List<Waiting> odd =
          notInTime.stream()
              .map(kind -> begin(locks, names.get(), kind.way(), kind.longest()))
              .toList();
      fixture.awaitRegardless(
          "all waits were over",
          () ->
              odd.stream().allMatch(one -> one.call().isOver())
                  && round.stream().allMatch(one -> one.call().isOver()));

      Duration late = fixture.allowance().plus(stalls.worst());
      if (!round.stream().allMatch(one -> one.isInTime(late))) {
        AnotherRule.isBroken("a wait of a second is not as long as that: " + round);
      }
      odd.stream().filter(Waiting::isEarly).forEach(early::add);
      odd.stream()
          .filter(one -> one.isInTime(late))
          .forEach(one -> notInTime.remove(new Kind(one.way(), one.longest())));
      assertThat(odd)
          .as("neither over before its time, nor %s after it", late)
          .allMatch(one -> one.isInTime(late));
    }
  }

  /** Returns the name of a lock that another owner holds. */
  private String held(String end) {
    String name = fixture.name(end);
    Contender.holding(fixture, name);
    return name;
  }

  private Waiting begin(LockManager locks, String name, Asking way, Duration wait) {
    // of its own, because a deadline that equal requests share is ACQ-17's
    LockRequest request = request(name, wait).ownerLabel(way.name());
    return new Waiting(way, wait, Call.begin(() -> way.ask(locks, request)));
  }

  private LockRequest request(String name, Duration wait) {
    return fixture.request(name).waitAtMost(wait);
  }

  /** Closes a manager that has an open lease. */
  private Call<?> closing(Duration grace, List<Lease> leases) {
    LockManager closing = fixture.open();
    leases.add(fixture.take(closing, fixture.name("open"), fixture.foreignTtl()));
    return Call.begin(
        () -> {
          closing.close(grace);
          return "closed";
        });
  }
}
