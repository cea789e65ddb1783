package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Waiters stand in a queue, and one that leaves lets the next one try. */
public abstract class WaitQueueRules {
  /** So that a release comes while a waiter comes. */
  private static final long MICROS = 500;

  private static final int ROUNDS = 40;

  /** Above twice the period of most loops that wait, which is a second or less. */
  private static final Duration SECONDS = Duration.ofMillis(2_200);

  /** When three waiters come: no slice of 0.25, 0.5, 1 or 2 s leaves them in this order. */
  private static final List<Duration> ARRIVALS =
      List.of(Duration.ZERO, Duration.ofMillis(350), Duration.ofMillis(520));

  final TckFixture fixture;

  public WaitQueueRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-3")
  @IfThisFails("check that futures and threads wait in the same queue")
  void waitersAreServedInTheOrderInWhichTheyCame() throws InterruptedException {
    int waiters = 10;
    String name = fixture.name("line");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    List<Integer> served = new CopyOnWriteArrayList<>();
    for (int i = 0; i < waiters; i++) {
      int number = i;
      if (i % 2 == 0) {
        Call<?> waiter =
            Call.begin(
                () -> {
                  serve(served, number, locks.acquire(fixture.request(name).waitForever()));
                  return number;
                });
        fixture.soon().until("a thread waited", waiter::isWaiting);
      } else {
        locks
            .tryAcquireAsync(fixture.request(name).waitForever())
            .thenAccept(lease -> lease.ifPresent(got -> serve(served, number, got)));
      }
    }

    contender.letGo();

    fixture.soon().untilNoMoreCome(served::size, waiters);
    assertThat(served).isSorted();
  }

  @Test
  @Rule("WAIT-12")
  @IfThisFails("check that a waiter behind a lease of its own manager makes no attempt at first")
  void aWaiterBehindItsOwnManagerSendsNothingAtFirst() {
    Counts.needsRequests(fixture);
    LockManager locks = fixture.open("retryDelay=10s"); // so that its back-off is 5 s or more
    Lease held = OnNodes.take(fixture, locks, fixture.request(fixture.name("own")));

    Counts.assertNoneBy(
        fixture,
        () -> {
          CompletableFuture<?> waiter =
              locks.tryAcquireAsync(fixture.request(held.name()).waitForever());
          if (!Attempts.stays(() -> !waiter.isDone())) {
            AnotherRule.isBroken("a wait for a lock that is held is over");
          }
          waiter.cancel(true);
        });
  }

  @Test
  @Rule("WAIT-3")
  @IfThisFails("check that a wait is one wait, and not a loop that joins the line again and again")
  void waitersKeepTheirPlaceForSeconds() {
    LockManager locks = fixture.open();
    List<QueueOfThree> queues = new ArrayList<>();
    for (Asking way : Asking.values()) {
      for (UnaryOperator<LockRequest> wait : waits(way)) {
        queues.add(new QueueOfThree(locks, List.of(way, way, way), wait));
      }
    }
    queues.add(new QueueOfThree(locks, List.of(Asking.values()), LockRequest::waitForever));
    long begun = System.nanoTime();
    for (int waiter = 0; waiter < ARRIVALS.size(); waiter++) {
      Duration due = ARRIVALS.get(waiter);
      fixture.awaitPast(begun, due);
      for (QueueOfThree queue : queues) {
        queue.join(waiter);
      }
    }
    fixture.awaitPast(begun, SECONDS);

    queues.forEach(queue -> queue.contender.letGo());

    for (QueueOfThree queue : queues) {
      fixture.soon().untilNoMoreCome(queue.served::size, ARRIVALS.size());
      assertThat(queue.served).as("served in a line of %s", queue.ways).isSorted();
    }
  }

  /** Returns the limits of a wait, and for {@code acquire} also no limit. */
  private static List<UnaryOperator<LockRequest>> waits(Asking way) {
    UnaryOperator<LockRequest> anHour = request -> request.waitAtMost(Duration.ofHours(1));
    return way == Asking.ACQUIRE
        ? List.of(request -> request, LockRequest::waitForever, anHour)
        : List.of(LockRequest::waitForever, anHour);
  }

  /** Waiters that come one after another for a lock that another owner holds. */
  private final class QueueOfThree {
    private final LockManager locks;
    private final List<Asking> ways;
    private final UnaryOperator<LockRequest> wait;
    private final String name = fixture.name("line");
    private final Contender contender = Contender.holding(fixture, name);
    private final List<Integer> served = new CopyOnWriteArrayList<>();

    QueueOfThree(LockManager locks, List<Asking> ways, UnaryOperator<LockRequest> wait) {
      this.locks = locks;
      this.ways = ways;
      this.wait = wait;
    }

    void join(int number) {
      LockRequest request = wait.apply(fixture.request(name));
      if (ways.get(number) == Asking.TRY_ACQUIRE_ASYNC) {
        locks
            .tryAcquireAsync(request)
            .thenAccept(lease -> lease.ifPresent(got -> serve(served, number, got)));
        return;
      }
      Call<?> waiter =
          Call.begin(
              () -> {
                ways.get(number)
                    .ask(locks, request)
                    .ifPresent(lease -> serve(served, number, lease));
                return number;
              });
      fixture.soon().until("a thread waited", waiter::isWaitingOrOver);
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that the head of the queue polls, or is notified of a release")
  void aWaiterGetsALockThatAnotherOwnerReleases() throws InterruptedException {
    String name = fixture.name("passed-on");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    Call<Lease> waiter = Call.begin(() -> locks.acquire(fixture.request(name).waitForever()));
    fixture.soon().until("a thread waited", waiter::isWaiting);

    contender.letGo();

    assertThat(waiter.awaited(fixture).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that the head of the queue polls, because an expiry sends no notification")
  void aWaiterGetsALockThatExpires() throws InterruptedException {
    OnNodes.needsExpiry(fixture);
    String name = fixture.name("expired");
    Contender.holdingBriefly(fixture, name);

    Call<Optional<Lease>> waiter =
        Call.begin(() -> fixture.open().tryAcquireAsync(fixture.request(name).waitForever()).get());

    assertThat(waiter.awaited(fixture).result().flatMap(lease -> lease)).isPresent();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails(
      "check that a waiter that leaves the queue, with the lock or without, lets the next one try")
  void everyWaiterInAWaitQueueGetsItsTurn() throws InterruptedException {
    String name = fixture.name("line");
    LockManager locks = fixture.open();
    Lease held = fixture.take(locks, name, fixture.ttl());
    Call<?> impatient =
        Call.begin(() -> locks.acquire(fixture.request(name).waitAtMost(Duration.ofMillis(50))));
    List<Call<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiters.add(waiting(() -> locks.acquire(fixture.request(name).waitForever())));
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(fixture.request(name).waitForever());
      waiters.add(Call.begin(() -> future.get().orElseThrow()));
    }
    impatient.awaited(fixture);

    Attempts.release(fixture, held);

    assertAllServed(name, waiters, List.of());
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a waiter that gives up leaves its turn to the next one")
  void aWaiterThatGivesUpLeavesItsTurnToTheNext() throws InterruptedException {
    LockManager locks = fixture.open();
    String ofThread = fixture.name("interrupted");
    Contender first = Contender.holding(fixture, ofThread);
    Call<Lease> interrupted = waiting(() -> locks.acquire(fixture.request(ofThread).waitForever()));
    Call<Lease> behindIt = waiting(() -> locks.acquire(fixture.request(ofThread).waitForever()));
    String ofFuture = fixture.name("cancelled");
    Contender second = Contender.holding(fixture, ofFuture);
    CompletableFuture<?> cancelled = locks.tryAcquireAsync(fixture.request(ofFuture).waitForever());
    Call<Lease> behindThat = waiting(() -> locks.acquire(fixture.request(ofFuture).waitForever()));

    interrupted.interrupt();
    cancelled.cancel(true);
    first.letGo();
    second.letGo();

    assertAllServed(ofThread, List.of(behindIt), List.of(interrupted));
    assertAllServed(ofFuture, List.of(behindThat), List.of());
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a release is not overlooked while a waiter joins the queue")
  void aLockThatIsReleasedWhileAWaiterComesIsGranted() throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = fixture.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = fixture.name("race");
      Lease held = fixture.take(locks, name, fixture.ttl());
      List<Call<Lease>> waiters = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        CompletableFuture<Optional<Lease>> future =
            locks.tryAcquireAsync(fixture.request(name).waitForever());
        waiters.add(Call.begin(() -> future.get().orElseThrow()));
      }
      seed.pauseUpTo(MICROS);

      Attempts.release(fixture, held);

      assertAllServed(name, waiters, List.of());
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that each name has a line of its own")
  void namesDoNotWaitForEachOther() throws InterruptedException {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    CompletableFuture<?> waiter = locks.tryAcquireAsync(fixture.request(name).waitForever());

    Call<Lease> other = Call.begin(() -> locks.acquire(fixture.name("free"), fixture.ttl()));

    assertThat(other.awaited(fixture).result()).as("%s", other).isPresent();
    assertThat(waiter).isNotDone();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a wait outlasts an outage")
  void aWaiterGetsTheLockWhenTheNodesAreBack() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("back");
    LockManager locks = fixture.open("nodeTimeout=100ms");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    Call<Lease> waiter = Call.begin(() -> locks.acquire(fixture.request(name).waitForever()));
    fixture.soon().until("a thread waited", waiter::isWaiting);

    Faults.end(TckFault.FROZEN, fixture.nodes(), name);

    assertThat(waiter.awaited(fixture).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("WAIT-6")
  @IfThisFails("check that an attempt that no quorum answered is repeated within a second")
  void aWaiterOfALongRetryDelayGetsTheLockWhenTheNodesAreBack() {
    Needs.of(fixture, TckFault.DEAD); // a frozen node would execute the attempt that failed
    String name = fixture.name("patient");
    LockManager locks = fixture.open(Waited.PATIENT);
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), name);
    CompletableFuture<?> waiter = locks.tryAcquireAsync(fixture.request(name).waitForever());
    fixture.awaitRegardless(
        "an attempt ends with an outage",
        () -> locks.tryAcquireAsync(fixture.request(name)).isCompletedExceptionally());

    Faults.end(TckFault.DEAD, fixture.blocking(), name);

    fixture.soon().until("the lock is granted once the nodes are back", waiter::isDone);
  }

  @Test
  @Rule("WAIT-8")
  @IfThisFails("check that a request without a wait checks whether others wait in the queue")
  void noRequestOvertakesWaiters() throws InterruptedException {
    LockManager locks = fixture.open("retryDelay=60s");
    for (int round = 0; round < 3; round++) {
      String name = fixture.name("overtaken");
      Contender contender = Contender.holding(fixture, name);
      CompletableFuture<?> waiter = locks.tryAcquireAsync(fixture.request(name).waitForever());
      untilTheHeadWasRefused(locks, name);

      contender.letGo();

      assertThat(Attempts.once(locks, name, fixture.ttl())).as("though the lock is free").isEmpty();
      waiter.cancel(true);
    }
  }

  @Test
  @Rule("WAIT-8")
  @IfThisFails("check that a request without a wait does not wait for the head's attempt")
  void anAttemptBehindAnotherInFlightIsEmptyAtOnce() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("under-way");
    LockManager locks = fixture.open("nodeTimeout=10s");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    Call<?> first = Call.begin(() -> locks.acquire(fixture.request(name).waitForever()));
    fixture.soon().until("a thread waited", first::isWaiting);

    Call<Optional<Lease>> second = Call.begin(() -> locks.tryAcquire(name, fixture.ttl()));

    assertThat(second.awaited(fixture).result()).as("%s", second).hasValue(Optional.empty());
    assertThat(second.took()).as("not the timeout of nodes").isLessThan(Duration.ofSeconds(5));
    assertThat(first.isOver()).isFalse();
    first.interrupt();
  }

  private Call<Lease> waiting(Callable<Lease> call) {
    Call<Lease> waiter = Call.begin(call);
    fixture.soon().until("a thread waited", waiter::isWaitingOrOver);
    return waiter;
  }

  /**
   * Waits until all waiters of a queue have had their turn, whatever its result, which other rules
   * cover. Removes locks that go to waiters that had given up, and locks that are never released,
   * because other rules cover them as well.
   */
  private void assertAllServed(String name, List<Call<Lease>> queue, List<Call<Lease>> gone) {
    List<Call<Lease>> left = new ArrayList<>(queue);
    left.addAll(gone);
    AtomicLong served = new AtomicLong(System.nanoTime());
    fixture
        .soon()
        .until(
            "all in a line had their turn",
            () -> {
              List<Call<Lease>> over = left.stream().filter(Call::isOver).toList();
              for (Call<Lease> waiter : over) {
                waiter.result().ifPresent(lease -> Attempts.release(fixture, lease));
                served.set(System.nanoTime());
              }
              left.removeAll(over);
              if (Elapsed.since(served.get()).compareTo(Attempts.LOOK) > 0) {
                fixture.nodes().forEach(node -> node.remove(name));
              }
              return left.stream().noneMatch(queue::contains);
            });
  }

  private void serve(List<Integer> served, int number, Lease lease) {
    served.add(number);
    TckFixture.regardless(lease::release);
  }

  /**
   * Waits until the head of the queue was refused, which the waiters behind it report. Goes on if
   * they report nothing.
   */
  private void untilTheHeadWasRefused(LockManager locks, String name) throws InterruptedException {
    long begun = System.nanoTime();
    while (Elapsed.since(begun).compareTo(Attempts.LOOK) < 0) {
      try {
        Attempts.release(fixture, locks.acquire(fixture.request(name).waitAtMost(Duration.ZERO)));
      } catch (LockContendedException behind) {
        if (behind.votes().refused() > 0) {
          return;
        }
      } catch (LockException anotherRule) {
        return;
      }
    }
  }
}
