package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Durations that are no round numbers, and long ones. Each test leaves itself out if a round number
 * of seconds is not kept either, because that is another rule's.
 */
public abstract class DurationRules {
  private static final Duration MILLI = Duration.ofMillis(1);
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** Durations beside whole and half seconds. Rounding in any direction changes some of them. */
  private static final List<Duration> ODD =
      millis(1_001, 1_250, 1_499, 1_501, 1_999, 2_001, 9_999, 10_001, 32_769, 45_678, 59_999);

  /** Durations slightly above what units and number types hold: 16, 31 and 32 bits, hours, days. */
  private static final List<Duration> LONG =
      millis(
          65_537,
          3_600_001,
          32_768_001,
          86_400_001,
          2_147_483_649L,
          4_294_967_297L,
          31_000_317_001L, // a second more if it is a float of any unit
          31_535_999_999L);

  /** Minimums above a minute that rounding to seconds changes, down or up. */
  private static final List<Duration> LONG_MINIMUMS = millis(61_499, 86_399_501);

  private static final Duration LONGEST = Duration.ofDays(365);

  /** Durations short enough for a test to wait for their end. */
  private static final List<Duration> ENDING = millis(253, 1_003, 1_250, 1_499, 1_750);

  /** Durations of years, and longer than a long of nanoseconds, milliseconds or seconds holds. */
  static final List<Duration> ENDLESS =
      List.of(
          Duration.ofMillis(2_147_483_649L),
          Duration.ofMillis(4_294_967_297L),
          Duration.ofNanos(Long.MAX_VALUE),
          Duration.ofDays(365L * 300),
          Duration.ofMillis(Long.MAX_VALUE),
          Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
          ChronoUnit.FOREVER.getDuration());

  final TckFixture fixture;

  public DurationRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  /** Gets a lease, however long it takes. */
  private interface Getting {
    Lease get(Duration ttl);
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails(
      "check that a ttl is counted in milliseconds, in longs, and is neither cut nor raised")
  void aGrantLastsForItsTtlWhateverTheNumber() {
    LockManager locks = fixture.open();
    for (Asking way : Asking.values()) {
      needsRound(() -> assertLasts(fixture.ttl(), ttl -> granted(way, locks, ttl)));
      for (Duration ttl : ODD) {
        assertLasts(ttl, asked -> granted(way, locks, asked));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that a ttl of hours and of weeks is neither cut nor an int")
  void aGrantLastsForItsTtlHoweverLong() {
    for (Map<String, String> options : fixture.optionSets()) {
      LockManager locks = openForYears(options);
      needsRound(() -> assertLasts(fixture.ttl(), ttl -> granted(Asking.TRY_ACQUIRE, locks, ttl)));
      for (Duration ttl : LONG) {
        assertLasts(ttl, asked -> granted(Asking.TRY_ACQUIRE, locks, asked));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that the lock, and not only the lease, lasts to the millisecond")
  void aLockIsSeenForAsLongAsItsLeaseLastsHoweverLong() {
    Needs.of(fixture, LockCapability.INSPECTION);
    LockManager locks = openForYears(Map.of());
    for (Duration ttl : LONG) {
      Lease lease = granted(Asking.TRY_ACQUIRE, locks, ttl);
      assertSeenForItsValidity(locks, lease, ttl);
      if (fixture.declares(LockCapability.EXTENSION)) {
        TckFixture.regardless(() -> lease.extend(ttl));
        assertSeenForItsValidity(locks, lease, ttl);
      }
      Attempts.release(fixture, lease);
    }
  }

  private static void assertSeenForItsValidity(LockManager locks, Lease lease, Duration ttl) {
    long before = System.nanoTime();
    Duration valid = lease.remaining();
    Duration seen =
        locks
            .inspect(lease.name())
            .map(LockStatus::remaining)
            .orElseGet(() -> AnotherRule.isBroken("a lock that is held is not seen"));
    assertThat(seen)
        .as("time for which others are kept out by a lock of %s", ttl)
        .isGreaterThanOrEqualTo(valid.minus(Elapsed.since(before)).minus(MILLI));
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that an extension counts in milliseconds, in longs, as the first ttl does")
  void anExtendedLeaseLastsForItsTtlWhateverTheNumber() {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = fixture.open();
    for (boolean waiting : new boolean[] {true, false}) {
      needsRound(() -> assertLasts(fixture.ttl(), ttl -> extended(locks, ttl, waiting)));
      for (Duration ttl : ODD) {
        assertLasts(ttl, asked -> extended(locks, asked, waiting));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that an extension by hours and by weeks is neither cut nor an int")
  void anExtendedLeaseLastsForItsTtlHoweverLong() {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = openForYears(Map.of());
    needsRound(() -> assertLasts(fixture.ttl(), ttl -> extended(locks, ttl, true)));
    for (Duration ttl : LONG) {
      assertLasts(ttl, asked -> extended(locks, asked, true));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that others get a lock when its ttl has passed, and not before its validity")
  void othersGetALockWhenItsTtlHasPassedWhateverTheNumber() throws InterruptedException {
    OnNodes.needsExpiry(fixture);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Expiring round = new Expiring(locks, SECOND);
    List<Expiring> odd = ENDING.stream().map(ttl -> new Expiring(locks, ttl)).toList();
    List<Expiring> all = Stream.concat(Stream.of(round), odd.stream()).toList();

    fixture.awaitRegardless(
        "others get all of them",
        () -> {
          for (Expiring one : all) {
            one.ask(other);
          }
          return all.stream().allMatch(one -> one.isGot);
        });

    if (!round.isInTime()) {
      AnotherRule.isBroken("a lock of a second is not free after a second");
    }
    assertThat(odd)
        .as("got after their validity, and no later than their ttl")
        .allMatch(Expiring::isInTime);
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that a renewal is for the ttl that was asked for, in milliseconds")
  void aRenewalIsForTheTtlWhateverTheNumber() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Duration ttl = Duration.ofMillis(1_999);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          LockRequest request =
              LockRequest.of(fixture.name("renewed"), ttl).keepAliveUpTo(Duration.ofHours(1));
          Lease lease = fixture.take(locks, request);
          fixture.awaitRegardless("a quarter of it has passed", () -> isBelow(lease, nearly(ttl)));
          if (!isBelow(lease, nearly(ttl))) {
            AnotherRule.isBroken("remaining() does not count down");
          }

          boolean isRenewed = Attempts.comes(ttl, () -> !isBelow(lease, nearly(ttl)));

          if (!isRenewed) {
            Renewals.needed(fixture);
          }
          assertThat(isRenewed).as("whether more than %s was left again", nearly(ttl)).isTrue();
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that holdAtLeast counts in milliseconds, whichever call it is that releases")
  void aLockThatIsReleasedEarlyIsHeldForItsMinimumWhateverTheNumber() {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    needsRound(() -> assertHeldAtLeast(locks, fixture.ttl().dividedBy(2), ReleaseCall.RELEASE));
    for (ReleaseCall call : ReleaseCall.values()) {
      for (List<Duration> minimums : List.of(ODD, LONG_MINIMUMS)) {
        minimums.forEach(atLeast -> assertHeldAtLeast(locks, atLeast, call));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that keepAliveUpTo counts in milliseconds: to its end, and not past it")
  void aLeaseIsKeptForItsLongestHoldWhateverTheNumber() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();
    // whole seconds above the ttl, so that a hold that is cut to seconds may still be asked for
    Duration round = Duration.ofSeconds(fixture.shortTtl().toSeconds() + 1);

    Retries.anyOf(
        () -> {
          Holding control = new Holding(locks, round);
          List<Holding> odd =
              List.of(
                  new Holding(locks, round.plusMillis(1)),
                  new Holding(locks, round.plusMillis(499)),
                  new Holding(locks, round.plusMillis(999)));
          fixture
              .soon()
              .until(
                  "their time is over",
                  () -> {
                    control.look();
                    odd.forEach(Holding::look);
                    return control.isOver() && odd.stream().allMatch(Holding::isOver);
                  });
          if (!control.isKept()) {
            AnotherRule.isBroken("a hold of whole seconds is not kept either");
          }
          assertThat(odd)
              .as("held until shortly before the end, and not after")
              .allMatch(Holding::isKept);
        });
  }

  @Test
  @Rule("VAL-7")
  @IfThisFails("check that a keepAliveUpTo above 2^31 milliseconds is no int of milliseconds")
  void aLeaseIsKeptUntilTheEndThatWasAskedFor() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    for (Duration hold : List.of(Duration.ofDays(20), Duration.ofDays(25), Duration.ofDays(60))) {
      Lease lease = fixture.take(locks, fixture.request(fixture.name("long")).keepAliveUpTo(hold));

      assertThat(locks.leases())
          .filteredOn(held -> held.name().equals(lease.name()))
          .extracting(held -> Duration.between(held.since(), held.keptAliveUntil().orElseThrow()))
          .singleElement()
          .satisfies(kept -> assertThat(kept).isCloseTo(hold, Duration.ofMinutes(1)));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-7")
  @IfThisFails("check that a keepAliveUpTo that no long of nanoseconds holds is a very long one")
  void aLeaseThatMayBeHeldForYearsIsRenewed() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          long begun = System.nanoTime();
          Lease control = kept(locks, ttl, Duration.ofHours(1));
          List<Lease> leases = ENDLESS.stream().map(hold -> kept(locks, ttl, hold)).toList();
          fixture.awaitPast(begun, ttl.multipliedBy(3).dividedBy(2)); // that of one renewal, too

          if (!control.isHeld()) {
            Renewals.needed(fixture);
          }
          assertThat(leases).as("those of %s", ENDLESS).allMatch(Lease::isHeld);
        });
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that maxTtl is read and compared in milliseconds")
  void aMaxTtlMayBeAnyNumber() throws InterruptedException {
    for (Duration max : millis(1_999, 12_345, 86_399_999)) {
      LockManager locks = fixture.open("maxTtl=" + max.toMillis() + "ms");

      assertThat(refusalOf(locks, max)).as("a ttl of maxTtl=%s", max).isEmpty();
      assertThat(refusalOf(locks, max.plusNanos(1))).as("a nanosecond more").isPresent();
    }
  }

  private Optional<LockConfigurationException> refusalOf(LockManager locks, Duration ttl)
      throws InterruptedException {
    try {
      locks
          .tryAcquire(fixture.name("longest"), ttl)
          .ifPresent(lease -> Attempts.release(fixture, lease));
    } catch (LockConfigurationException e) {
      return Optional.of(e);
    } catch (LockException another) {
      IgnoredFailures.add(another);
    }
    return Optional.empty();
  }

  private static List<Duration> millis(long... numbers) {
    return LongStream.of(numbers).mapToObj(Duration::ofMillis).toList();
  }

  /** Returns a lower limit with room for drift, which no time reaches that is cut to a unit. */
  private static Duration nearly(Duration ttl) {
    return ttl.multipliedBy(3).dividedBy(4);
  }

  private static boolean isBelow(Lease lease, Duration time) {
    return lease.remaining().compareTo(time) <= 0;
  }

  /** Leaves the test out where ttls have limits of their own. */
  private LockManager openForYears(Map<String, String> options) {
    Map<String, String> all = new HashMap<>(options);
    all.put("maxTtl", LONGEST.toMillis() + "ms");
    try {
      return fixture.open(WithoutScripts.texts(all));
    } catch (LockConfigurationException e) {
      return abort("a ttl of a year is too long here: " + e.getMessage());
    }
  }

  private static void needsRound(Runnable assertions) {
    try {
      assertions.run();
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken("a round number is not kept either: " + e.getMessage());
    }
  }

  /** Gets a lock, again where an attempt failed because the machine stalled. */
  private Lease granted(Asking way, LockManager locks, Duration ttl) {
    List<Lease> got = new ArrayList<>();
    fixture
        .soon()
        .until(
            way + " gets a lock for " + ttl,
            () -> {
              got.clear();
              try {
                way.ask(locks, LockRequest.of(fixture.name("odd"), ttl)).ifPresent(got::add);
              } catch (LockException e) {
                IgnoredFailures.add(e);
              }
              return !got.isEmpty();
            });
    return got.get(0);
  }

  /**
   * Returns a lease that was extended to a ttl. It is first granted for less than any of the ttls.
   * A lease that is lost, on a machine that stalls, is replaced.
   */
  private Lease extended(LockManager locks, Duration ttl, boolean waiting) {
    List<Lease> extended = new ArrayList<>();
    fixture
        .soon()
        .until(
            "a lease is extended by " + ttl,
            () -> {
              extended.clear();
              Lease lease = fixture.take(locks, fixture.name("odd"), SECOND);
              try {
                if (waiting) {
                  lease.extend(ttl);
                } else {
                  lease.extendAsync(ttl).join();
                }
                extended.add(lease);
              } catch (RuntimeException e) {
                IgnoredFailures.add(e);
              }
              return !extended.isEmpty();
            });
    return extended.get(0);
  }

  /** Asserts that a lease lasts for the ttl, by its own account and on the nodes. */
  private void assertLasts(Duration ttl, Getting getting) {
    long asked = System.nanoTime();
    Lease lease = getting.get(ttl);
    long granted = System.nanoTime();
    Duration remaining = lease.remaining();

    assertThat(remaining)
        .as("remaining time of %s", ttl)
        .isLessThanOrEqualTo(ttl)
        .isGreaterThan(nearly(ttl).minus(Elapsed.since(asked)));
    int keeping = 0;
    for (TckNode node : fixture.nodes()) {
      long before = System.nanoTime();
      Duration valid = lease.remaining();
      Duration left = node.timeToLive(lease.name());
      Duration least = valid.minus(Elapsed.since(before)).minus(MILLI);
      keeping += left.compareTo(least) >= 0 ? 1 : 0;

      assertThat(left)
          .as("time to live on %s of a lock of %s", node.address(), ttl)
          .isLessThanOrEqualTo(ttl.plus(MILLI));
    }
    assertThat(keeping)
        .as("nodes that keep a lock of %s for its validity", ttl)
        .isGreaterThanOrEqualTo(fixture.nodes().isEmpty() ? 0 : fixture.quorum());
    Duration atMost = atLeastZero(ttl.minus(Elapsed.since(granted)));
    assertThat(lease.remaining()).as("remaining time of %s", ttl).isLessThanOrEqualTo(atMost);
    Attempts.release(fixture, lease);
  }

  private static Duration atLeastZero(Duration time) {
    return time.isNegative() ? Duration.ZERO : time;
  }

  private void assertHeldAtLeast(LockManager locks, Duration atLeast, ReleaseCall call) {
    String name = fixture.name("at-least");
    long asked = System.nanoTime();
    Lease lease =
        fixture.take(locks, LockRequest.of(name, Duration.ofMinutes(1)).holdAtLeast(atLeast));
    TckFixture.regardless(() -> call.on(lease));

    long keeping =
        fixture.nodes().stream()
            .filter(
                node -> {
                  Duration left = node.timeToLive(name);
                  Duration least = atLeast.minus(Elapsed.since(asked)).minus(MILLI);
                  return left.compareTo(least) >= 0 && left.compareTo(atLeast.plus(MILLI)) <= 0;
                })
            .count();
    assertThat(keeping)
        .as("nodes that keep a lock that is held for at least %s, after %s", atLeast, call)
        .isGreaterThanOrEqualTo(fixture.quorum());
    fixture.nodes().forEach(node -> node.remove(name));
  }

  private Lease kept(LockManager locks, Duration ttl, Duration hold) {
    return fixture.take(locks, LockRequest.of(fixture.name("kept"), ttl).keepAliveUpTo(hold));
  }

  /** A lock that expires, and that another manager tries to acquire until it is granted. */
  private final class Expiring {
    private final Duration ttl;
    private final String name;
    private final long validUntil;
    private final long over;
    private boolean isGot;
    private long lastRefused = System.nanoTime();
    private long gotAt;

    Expiring(LockManager locks, Duration ttl) {
      this.ttl = ttl;
      Lease lease = granted(Asking.TRY_ACQUIRE, locks, ttl);
      name = lease.name();
      long now = System.nanoTime();
      validUntil = now + lease.remaining().toNanos();
      over = System.nanoTime() + ttl.toNanos();
    }

    void ask(LockManager other) throws InterruptedException {
      if (isGot) {
        return;
      }
      long asked = System.nanoTime();
      try {
        isGot = other.tryAcquire(name, fixture.ttl()).isPresent();
      } catch (LockException e) {
        IgnoredFailures.add(e);
        return;
      }
      gotAt = System.nanoTime();
      if (!isGot) {
        lastRefused = asked;
      }
    }

    boolean isInTime() {
      return isGot
          && gotAt - validUntil >= 0
          && lastRefused - over <= fixture.allowance().toNanos();
    }

    @Override
    public String toString() {
      return ttl
          + (isGot ? ": got " : ": not got ")
          + Duration.ofNanos(gotAt - validUntil)
          + " after its validity, last refused "
          + Duration.ofNanos(lastRefused - over)
          + " after its ttl";
    }
  }

  /** A lease that is renewed, up to its longest hold. */
  private final class Holding {
    private final Duration hold;
    private final Lease lease;
    private final long granted;
    private boolean isHeldNearItsEnd;
    private boolean isHeldAfterItsEnd;
    private boolean isNear;
    private boolean isOver;

    Holding(LockManager locks, Duration hold) {
      this.hold = hold;
      lease = kept(locks, fixture.shortTtl(), hold);
      granted = System.nanoTime();
    }

    void look() {
      Duration passed = Elapsed.since(granted);
      boolean isHeld = lease.isHeld();
      if (!isNear && passed.compareTo(nearly(hold)) > 0) {
        isNear = true;
        isHeldNearItsEnd = isHeld;
      }
      if (!isOver && passed.compareTo(hold) > 0) {
        isOver = true;
        isHeldAfterItsEnd = isHeld;
        TckFixture.regardless(lease::release);
      }
    }

    boolean isOver() {
      return isOver;
    }

    boolean isKept() {
      return isHeldNearItsEnd && !isHeldAfterItsEnd;
    }

    @Override
    public String toString() {
      return hold
          + (isHeldNearItsEnd ? ": held" : ": not held")
          + " near its end, "
          + (isHeldAfterItsEnd ? "held" : "not held")
          + " after it";
    }
  }
}
