package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Short leases are as exact as long ones, and each lock ends at its time. */
public abstract class TimelinessRules {
  /** Ttls below, at and above one second, where backends round or take short cuts. */
  private static final List<Duration> TTLS =
      LongStream.of(200, 600, 999, 1_000, 1_500, 5_000).mapToObj(Duration::ofMillis).toList();

  /** The number of locks that end one after the other. */
  private static final int ENDS = 5;

  /** So that no two locks live equally long. */
  private static final Duration STEP = Duration.ofMillis(20);

  /**
   * Half of what a sweep every 500 ms adds. The time of attempts on a busy machine is added to it.
   */
  private static final Duration PROMPT = Duration.ofMillis(120);

  private static final Duration FIRST_END = Duration.ofMillis(200);

  final TckFixture fixture;

  public TimelinessRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension compares the token whatever the ttl of the lease is")
  void aLeaseOfAnyTtlThatIsGoneIsNotExtended() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.openForShortTtl();
    for (Duration ttl : TTLS) {
      for (Duration by : List.of(ttl.dividedBy(2), ttl, fixture.ttl())) {
        Lease removed = fixture.take(locks, fixture.name("removed"), ttl);
        fixture.nodes().forEach(node -> node.remove(removed.name()));
        Lease taken = fixture.take(locks, fixture.name("taken"), ttl);
        OnNodes.occupy(fixture, fixture.nodes(), taken.name());

        for (Lease lease : List.of(removed, taken)) {
          assertThat(isExtended(lease, by, by.equals(ttl)))
              .as("extended by %s, with a ttl of %s, as %s", by, ttl, lease.name())
              .isFalse();
        }
      }
    }
  }

  @Test
  @Rule("EXT-10")
  @IfThisFails("check that an extension gives all that was asked for, whatever the ttl was before")
  void aLeaseOfAnyTtlIsExtendedByAllThatWasAskedFor() {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = fixture.openForShortTtl();
    List<Duration> usable =
        TTLS.stream().filter(ttl -> ttl.compareTo(fixture.shortTtl()) >= 0).toList();
    for (Duration ttl : usable) {
      for (Duration by : usable) {
        assertExtendedByAll(locks, ttl, by);
      }
    }
  }

  private void assertExtendedByAll(LockManager locks, Duration ttl, Duration by) {
    Retries.anyOf( // a lease may end before its extension on a machine that stalls
        () -> {
          long begun = System.nanoTime();
          Lease lease = fixture.take(locks, fixture.name("extended"), ttl);
          long asked = System.nanoTime();
          if (!isExtended(lease, by, by.compareTo(ttl) < 0)) {
            if (Elapsed.since(begun).compareTo(ttl.dividedBy(2)) > 0) {
              return; // on a machine this slow, this ttl shows nothing
            }
            AnotherRule.isBroken("a lease that is held is not extended");
          }
          Duration remaining = lease.remaining();

          assertThat(remaining)
              .as("remaining time of a lease of %s, extended by %s", ttl, by)
              .isGreaterThan(nearly(by).minus(Elapsed.since(asked)));
          long keeping =
              fixture.nodes().stream().filter(node -> keeps(node, lease.name(), by, asked)).count();
          assertThat(keeping)
              .as("nodes that keep a lock of %s for %s more", ttl, by)
              .isGreaterThanOrEqualTo(fixture.nodes().isEmpty() ? 0 : fixture.quorum());
          Attempts.release(fixture, lease);
        });
  }

  private static boolean keeps(TckNode node, String name, Duration by, long asked) {
    return node.timeToLive(name).compareTo(nearly(by).minus(Elapsed.since(asked))) >= 0;
  }

  @Test
  @Tag("exclusion")
  @Rule("NODES-3")
  @IfThisFails("check that leases() reads the clock, and waits for no timer")
  void noLeaseIsShownAfterItsEnd() {
    LockManager locks = fixture.openForShortTtl();
    for (int i = 0; i < ENDS; i++) {
      Lease lease = fixture.take(locks, fixture.name("shown"), fixture.briefTtl().dividedBy(2));
      if (i % 2 == 1 && fixture.declares(LockCapability.EXTENSION)) {
        isExtended(lease, fixture.briefTtl(), true);
      }
      long end = System.nanoTime() + lease.remaining().plusMillis(2).toNanos();
      while (System.nanoTime() - end < 0) {
        Thread.onSpinWait();
      }
      if (lease.isHeld()) {
        AnotherRule.isBroken("a lease does not know its end");
      }

      assertThat(locks.leases())
          .extracting(HeldLock::name)
          .as("locks that are shown right after their end")
          .doesNotContain(lease.name());
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that a lock ends when its ttl is over, not when a task finds it later")
  void othersGetALockAsSoonAsItsTtlIsOver() {
    LockManager other = fixture.open();

    assertPrompt(
        other,
        after -> {
          LockManager gone = fixture.openForShortTtl();
          Lease lease = fixture.take(gone, fixture.name("expires"), after);
          long end = System.nanoTime() + after.toNanos();
          gone.close(); // a manager that is there may remove the lock itself
          return new Ending(lease.name(), end);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that a hold ends when holdAtLeast is over, not when a task finds it later")
  void othersGetALockAsSoonAsItsHoldIsOver() {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    ReleaseWay[] ways = ReleaseWay.values();
    int[] round = new int[1];

    assertPrompt(
        other,
        after -> {
          LockRequest request = fixture.request(fixture.name("held")).holdAtLeast(after);
          Lease lease = fixture.take(locks, request);
          long end = System.nanoTime() + after.toNanos();
          ways[round[0]++ % ways.length].release(fixture, lease);
          return new Ending(lease.name(), end);
        });
  }

  @Test
  @Rule("ACQ-22")
  @IfThisFails("check that a minimum of Lease.holdAtLeast ends at its time")
  void othersGetALockAsSoonAsItsNewMinimumIsOver() {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    assertPrompt(
        other,
        after -> {
          Lease lease =
              fixture.take(
                  locks, fixture.request(fixture.name("reset")).holdAtLeast(fixture.ttl()));
          lease.holdAtLeast(after);
          long end = System.nanoTime() + after.toNanos();
          TckFixture.regardless(lease::release);
          return new Ending(lease.name(), end);
        });
  }

  /**
   * A lock that ends.
   *
   * @param end by {@link System#nanoTime}
   */
  private record Ending(String name, long end) {}

  /** Begins something that ends after a time. */
  private interface Beginning {
    Ending begin(Duration after);
  }

  /** Asserts that most locks are acquired promptly after their ends, one after the other. */
  private void assertPrompt(LockManager other, Beginning beginning) {
    Retries.anyOf(
        () -> {
          List<Duration> delays = new ArrayList<>();
          List<Duration> attempts = new ArrayList<>();
          for (int i = 0; i < ENDS; i++) {
            Ending one = beginning.begin(FIRST_END.plus(STEP.multipliedBy(i)));
            attempts.add(timeOfAnAttempt(other));
            delays.add(delayOf(one, other));
          }

          assertThat(median(delays))
              .as("the median of the times from the end to the next grant, %s", delays)
              .isLessThan(PROMPT.plus(median(attempts).multipliedBy(3)));
        });
  }

  /** Returns the time in the middle: a stall makes a few of them long. */
  private static Duration median(List<Duration> times) {
    return times.stream().sorted().toList().get(ENDS / 2);
  }

  private Duration timeOfAnAttempt(LockManager locks) throws InterruptedException {
    long begun = System.nanoTime();
    fixture.gets(locks, fixture.name("free"));
    return Elapsed.since(begun);
  }

  private Duration delayOf(Ending one, LockManager other) {
    fixture.soon().until("it is about to end", () -> System.nanoTime() - one.end() > -5_000_000);
    long late = Math.max(0, System.nanoTime() - one.end()); // then this test itself asks late
    fixture.soon().until("others get the lock", () -> fixture.gets(other, one.name()));
    Duration delay = Elapsed.since(one.end()).minusNanos(late);
    return delay.isNegative() ? Duration.ZERO : delay;
  }

  private static boolean isExtended(Lease lease, Duration by, boolean isAsynchronous) {
    try {
      if (isAsynchronous) {
        lease.extendAsync(by).join();
      } else {
        lease.extend(by);
      }
      return true;
    } catch (CompletionException | LockException | IllegalStateException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  /** Returns a lower limit with room for drift, which no time reaches that is cut to a unit. */
  private static Duration nearly(Duration time) {
    return time.multipliedBy(9).dividedBy(10).minusMillis(5);
  }
}
