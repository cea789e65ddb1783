package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The pauses between the attempts of waiters. */
public abstract class PauseRules {
  final TckFixture fixture;

  public PauseRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that a wait that ends within a pause ends without one last attempt")
  void noAttemptIsMadeWhenTheWaitEnds() throws InterruptedException {
    Counts.needsRequests(fixture);
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = OnNodes.open(fixture, "retryDelay=10s");
    long ofOneAttempt = requestsOfOneAttempt(locks, name);
    long before = settledRequests();

    TckFixture.regardless(
        () -> locks.tryAcquire(fixture.request(name).waitAtMost(Duration.ofMillis(50))));

    long requests = settledRequests() - before;
    if (requests > 2 * ofOneAttempt) {
      AnotherRule.isBroken("there are no pauses between attempts");
    }
    assertThat(requests)
        .as("requests of a wait that is shorter than any pause")
        .isLessThanOrEqualTo(ofOneAttempt);
  }

  @Test
  @Rule("WAIT-4")
  @IfThisFails("check that waiters behind the head ask no node")
  void aHundredWaitersPollAsRarelyAsOne() throws InterruptedException {
    Counts.needsRequests(fixture);
    String name = fixture.name("crowd");
    Contender.holding(fixture, name);
    LockManager locks = OnNodes.open(fixture, "retryDelay=40ms");
    long ofOneAttempt = requestsOfOneAttempt(locks, name);
    List<CompletableFuture<?>> waiters = new ArrayList<>();
    long before = requests();
    waiters.add(locks.tryAcquireAsync(fixture.request(name).waitForever()));
    long ofOne = requestsSoon(before);

    long beforeOthers = requests();
    for (int i = 1; i < 100; i++) {
      waiters.add(locks.tryAcquireAsync(fixture.request(name).waitForever()));
    }

    assertThat(requestsSoon(beforeOthers))
        .as("requests of 100 waiters, of 1: %s, of an attempt: %s", ofOne, ofOneAttempt)
        .isLessThan(4 * ofOne + 20 * ofOneAttempt);
    waiters.forEach(waiter -> waiter.cancel(true));
  }

  @Test
  @Rule("WAIT-6")
  @IfThisFails("check that there is a pause between attempts, and how long it is")
  void pausesAreBetweenHalfTheDelayAndAllOfIt() throws InterruptedException {
    Counts.needsRequests(fixture);
    String name = fixture.name("paused");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open("retryDelay=100ms");
    long perAttempt = requestsOfOneAttempt(locks, name);
    Duration delay = Duration.ofMillis(100);
    Duration shortest = Duration.ofMillis(50);
    int pauses = 8;
    int noLonger = 3; // a busy machine makes any of them longer

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Attempting attempting = new Attempting(fixture.node(0), perAttempt);
            CompletableFuture<?> waiter =
                locks.tryAcquireAsync(fixture.request(name).waitForever());
            attempting.observe(fixture, pauses + 1);
            waiter.cancel(true);

            Duration tolerance = stalls.worst().plusMillis(5);
            assertThat(attempting.longestPauses())
                .as("at least half of the delay")
                .allSatisfy(pause -> assertThat(pause.plus(tolerance)).isGreaterThan(shortest));
            List<Duration> sorted =
                IntStream.range(0, pauses)
                    .mapToObj(i -> attempting.between(i, i + 1))
                    .sorted()
                    .toList();
            assertThat(sorted.get(noLonger))
                .as("at most the delay, of %s", sorted)
                .isLessThan(delay.plus(tolerance));
          }
        });
  }

  @Test
  @Rule("WAIT-6")
  @IfThisFails("check that pauses are random, so that contenders do not meet again and again")
  void waitersDoNotPollInStep() {
    Counts.needsRequests(fixture);
    int waiters = 20;
    Retries.anyOf( // a machine that stalls wakes all at once
        () -> {
          LockManager locks = fixture.open("retryDelay=200ms");
          List<String> names = new ArrayList<>();
          for (int i = 0; i < waiters; i++) {
            names.add(fixture.name("in-step"));
            Contender.holding(fixture, names.get(i));
          }
          long perAttempt = requestsOfOneAttempt(locks, names.get(0));
          Attempting attempting = new Attempting(fixture.node(0), perAttempt);
          names.forEach(name -> locks.tryAcquireAsync(fixture.request(name).waitForever()));

          attempting.observe(fixture, 2 * waiters);

          locks.close();
          List<Duration> pauses =
              IntStream.range(0, waiters)
                  .mapToObj(i -> attempting.between(i, waiters + i))
                  .sorted()
                  .toList();
          assertThat(pauses.get(waiters - 1).minus(pauses.get(0)))
              .as("how much longer the longest pause is than the shortest, of %s", pauses)
              .isGreaterThan(Duration.ofMillis(40));
        });
  }

  private long requests() {
    return fixture.node(0).requests().orElseThrow();
  }

  /** Returns the number of requests while a test watches. */
  private long requestsSoon(long before) {
    fixture.awaitPast(System.nanoTime(), Attempts.LOOK);
    return requests() - before;
  }

  private long requestsOfOneAttempt(LockManager locks, String name) throws InterruptedException {
    int attempts = 5;
    LockRequest once = fixture.request(name).waitAtMost(Duration.ZERO);
    // unlike acquire it needs no holder for an exception, so that nodes are not asked for it
    TckFixture.regardless(() -> locks.tryAcquire(once)); // which may bring nodes what they need
    long before = settledRequests();
    for (int i = 0; i < attempts; i++) {
      TckFixture.regardless(() -> locks.tryAcquire(once));
    }
    return Math.max(1, Math.round((double) (settledRequests() - before) / attempts));
  }

  private long settledRequests() {
    Counts.settledRequests(fixture);
    return requests();
  }

  /** When attempts reach a node, seen by its requests. */
  private static final class Attempting {
    private final TckNode node;
    private final long before;
    private final long perAttempt;
    private final List<Long> seen = new ArrayList<>();
    private final List<Long> notYetSeen = new ArrayList<>();

    Attempting(TckNode node, long perAttempt) {
      this.node = node;
      this.before = node.requests().orElseThrow();
      this.perAttempt = perAttempt;
    }

    void observe(TckFixture fixture, int attempts) {
      AtomicLong last = new AtomicLong(System.nanoTime());
      fixture
          .soon()
          .until(
              attempts + " attempts were seen",
              () -> {
                long looked = System.nanoTime();
                long requests = node.requests().orElseThrow() - before;
                while (requests > perAttempt * seen.size()) {
                  notYetSeen.add(last.get());
                  seen.add(System.nanoTime());
                }
                last.set(looked);
                return seen.size() >= attempts;
              });
    }

    /** Returns for each pause the longest time that it can have taken. */
    List<Duration> longestPauses() {
      return IntStream.range(1, seen.size())
          .mapToObj(i -> Duration.ofNanos(seen.get(i) - notYetSeen.get(i - 1)))
          .toList();
    }

    Duration between(int one, int other) {
      return Duration.ofNanos(seen.get(other) - seen.get(one));
    }
  }
}
