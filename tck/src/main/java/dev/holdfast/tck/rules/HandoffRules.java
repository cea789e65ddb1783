package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A manager that holds a lock hands it to its own next waiter, which need not poll. */
public abstract class HandoffRules {
  /** More than follow each other without a pause, twice. */
  private static final int LINE = 20;

  private static final int ROUNDS = 20;

  private static final int RACES = 5;

  /** Three times the number of handoffs in a row. */
  private static final int RACING_QUEUE = 27;

  /** One more than the handoffs in a row. */
  private static final int PAUSING_QUEUE = 9;

  /** The shortest back-off after them. */
  private static final Duration SHORTEST_PAUSE = Duration.ofNanos(2_500_000);

  /** Enough for a first attempt and a subscription. */
  private static final Duration TO_WAIT = Duration.ofMillis(40);

  private static final Duration LONG = Duration.ofHours(1);

  final TckFixture fixture;

  public HandoffRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that releaseAsync(), close() and executeLocked wake the next waiter as well")
  void everyWayToReleaseHandsTheLockToTheNextWaiter() throws Exception {
    assertServedWithoutPolling(
        locks -> {
          List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
          for (ReleaseWay way : ReleaseWay.values()) {
            Lease held = fixture.take(locks, fixture.name("handed"), fixture.ttl());
            waiters.add(waiting(locks, held.name()));
            way.release(fixture, held);
          }
          LockRequest request = fixture.request(fixture.name("task"));
          locks.executeLocked(request, lease -> waiters.add(waiting(locks, request.name())));
          return waiters;
        });
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that a manager continues handoffs after it has let others try")
  void aLongWaitQueueIsServedWithoutPolling() throws Exception {
    assertServedWithoutPolling(
        locks -> {
          Lease held = fixture.take(locks, fixture.name("line"), fixture.ttl());
          List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
          for (int i = 0; i < LINE; i++) {
            ReleaseWay way = i % 2 == 0 ? ReleaseWay.CLOSE : ReleaseWay.RELEASE;
            CompletableFuture<Optional<Lease>> waiter = waiting(locks, held.name());
            waiter.thenAccept(lease -> lease.ifPresent(got -> way.release(fixture, got)));
            waiters.add(waiter);
          }
          TckFixture.regardless(held::release);
          return waiters;
        });
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that a lock which was handed to a waiter that is gone goes to the next one")
  void aWaiterThatGoesAsItIsServedLeavesTheLockToTheNextWaiter() throws Exception {
    Seed seed = new Seed();
    assertServedWithoutPolling(
        locks -> {
          List<CompletableFuture<Optional<Lease>>> next = new ArrayList<>();
          for (int round = 0; round < ROUNDS; round++) {
            Lease held = fixture.take(locks, fixture.name("gone"), fixture.ttl());
            CompletableFuture<Optional<Lease>> first = waiting(locks, held.name());
            next.add(waiting(locks, held.name()));
            Attempts.pause(); // a waiter that has just come may be overlooked, by another rule
            Attempts.pause();
            CompletableFuture<Boolean> released = held.releaseAsync();
            seed.pauseUpTo(500);
            if (!first.cancel(true)) {
              first.join().ifPresent(lease -> TckFixture.regardless(lease::release));
            }
            fixture.awaitRegardless("it is released", released::isDone);
          }
          return next;
        });
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that the head backs off after eight handoffs in a row if others wait as well")
  void aWaitQueueBesideOtherManagersPausesAfterEightHandoffs() {
    LockManager locks = fixture.open(Waited.PATIENT);
    LockManager other = fixture.open(Waited.PATIENT);
    needsSubscriptions(other);

    Retries.anyOf(
        () -> {
          List<Lease> held = new ArrayList<>();
          for (int race = 0; race < RACES; race++) {
            Lease lease = fixture.take(locks, fixture.name("pause"), fixture.ttl());
            passingOn(other, fixture.request(lease.name()), () -> {});
            held.add(lease);
          }
          fixture.awaitPast(System.nanoTime(), TO_WAIT);
          List<List<Duration>> queues = held.stream().map(lease -> pauses(locks, lease)).toList();

          assertThat(IntStream.range(1, PAUSING_QUEUE).mapToObj(i -> shortest(queues, i)))
              .as("the shortest pause before each place but the first of %d queues", RACES)
              .anyMatch(pause -> pause.compareTo(SHORTEST_PAUSE) >= 0);
        });
  }

  /** Leaves the test out where a release shows no other manager, because none subscribes. */
  private void needsSubscriptions(LockManager other) {
    Contender contender = Contender.holding(fixture, fixture.name("subscribed"));
    CompletableFuture<?> waiter =
        other.tryAcquireAsync(fixture.request(contender.name()).waitForever());
    boolean subscribes = Attempts.comes(() -> Counts.subscriptions(fixture) > 0);
    waiter.cancel(true);
    contender.letGo();
    if (Counts.countsSubscriptions(fixture) && !subscribes) {
      Waited.abortWithoutNotifications();
    }
  }

  private static Duration shortest(List<List<Duration>> queues, int place) {
    return queues.stream()
        .map(queue -> queue.get(place))
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Returns the time from each release of a line until the next waiter has the lock. */
  private List<Duration> pauses(LockManager locks, Lease held) {
    List<Duration> pauses = new CopyOnWriteArrayList<>();
    AtomicLong released = new AtomicLong();
    List<CompletableFuture<?>> queue = new ArrayList<>();
    for (int i = 0; i < PAUSING_QUEUE; i++) {
      LockRequest request = fixture.request(held.name()).ownerLabel("waiter " + i);
      queue.add(
          passingOn(
              locks,
              request,
              () -> {
                pauses.add(Elapsed.since(released.get()));
                released.set(System.nanoTime());
              }));
    }
    released.set(System.nanoTime());
    TckFixture.regardless(held::release);
    fixture.awaitRegardless(
        "the line is served, or pauses",
        () -> pauses.size() == PAUSING_QUEUE || isOver(released, TO_WAIT));
    queue.forEach(one -> one.cancel(true));
    List<Duration> all = new ArrayList<>(pauses);
    all.addAll(Collections.nCopies(PAUSING_QUEUE - all.size(), Elapsed.since(released.get())));
    return all;
  }

  private static boolean isOver(AtomicLong begun, Duration time) {
    return Elapsed.since(begun.get()).compareTo(time) > 0;
  }

  /**
   * Counts races in which the other manager gets the lock early. If the head did not back off, only
   * chance would let it in, in about one of five races.
   */
  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that a release counts the managers that wait, and none is overlooked")
  void aWaitQueueLetsAWaiterOfAnotherManagerIn() {
    LockManager locks = fixture.open(Waited.PATIENT);
    LockManager other = fixture.open("retryDelay=4ms");
    needsSubscriptions(other);

    Retries.anyOf(
        () -> {
          int served = 0;
          for (int race = 0; race < RACES; race++) {
            served += isServedBeforeTheWaitQueue(locks, other) ? 1 : 0;
          }

          assertThat(served)
              .as("races in which a waiter of another manager was served before the line's end")
              .isGreaterThanOrEqualTo(RACES * 3 / 5);
        });
  }

  /** Races a waiter of another manager against a line that is handed off several times over. */
  private boolean isServedBeforeTheWaitQueue(LockManager locks, LockManager other) {
    Lease held = fixture.take(locks, fixture.name("turn"), fixture.ttl());
    AtomicInteger served = new AtomicInteger();
    AtomicInteger before = new AtomicInteger(RACING_QUEUE);
    CompletableFuture<?> waiter =
        passingOn(other, fixture.request(held.name()), () -> before.set(served.get()));
    fixture.awaitPast(System.nanoTime(), TO_WAIT);
    List<CompletableFuture<?>> queue = new ArrayList<>();
    for (int i = 0; i < RACING_QUEUE; i++) {
      queue.add(passingOn(locks, fixture.request(held.name()), served::incrementAndGet));
    }
    TckFixture.regardless(held::release);
    fixture.awaitRegardless("the other waiter is served", waiter::isDone);
    queue.forEach(one -> one.cancel(true));
    return before.get() < RACING_QUEUE;
  }

  /** A scene of a test: begins to wait, and then releases locks. */
  private interface Scene {
    List<CompletableFuture<Optional<Lease>>> begun(LockManager locks) throws Exception;
  }

  /** Checks that all waiters are served though they poll too seldom for this test. */
  private void assertServedWithoutPolling(Scene scene) throws Exception {
    if (areServed(scene.begun(fixture.open(Waited.PATIENT)))) {
      return;
    }
    if (!areServed(scene.begun(fixture.open()))) {
      AnotherRule.isBroken("waiters that poll do not get the locks either");
    }
    needsReleases();
    fail("waiters that do not poll did not get locks that their own manager had released");
  }

  /** Leaves the test out if a released lock is not free at once. */
  private void needsReleases() throws InterruptedException {
    LockManager locks = fixture.open();
    for (int i = 0; i < ROUNDS; i++) {
      Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
      TckFixture.regardless(lease::release);
      if (!fixture.gets(locks, lease.name())) {
        AnotherRule.isBroken("a released lock is not free at once");
      }
    }
  }

  /** Begins to wait for a lock, which is released as soon as it is served and noted. */
  private static CompletableFuture<?> passingOn(
      LockManager locks, LockRequest request, Runnable served) {
    return locks
        .tryAcquireAsync(request.waitAtMost(LONG))
        .thenAccept(
            lease -> {
              served.run();
              lease.ifPresent(Lease::releaseAsync);
            });
  }

  private CompletableFuture<Optional<Lease>> waiting(LockManager locks, String name) {
    return locks.tryAcquireAsync(fixture.request(name).waitAtMost(LONG));
  }

  private boolean areServed(List<CompletableFuture<Optional<Lease>>> waiters) {
    fixture.awaitRegardless(
        "waiters are served", () -> waiters.stream().allMatch(CompletableFuture::isDone));
    return waiters.stream().allMatch(CompletableFuture::isDone);
  }
}
