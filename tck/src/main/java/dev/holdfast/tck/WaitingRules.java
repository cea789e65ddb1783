package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Others hold the lock, and callers wait for it. */
abstract class WaitingRules {
  /** Longer than many pauses between attempts. */
  private static final Duration WAIT = Duration.ofMillis(300);

  /** What clocks that tick in milliseconds may be wrong by. */
  private static final Duration TICK = Duration.ofMillis(1);

  /** About as long as an attempt takes, so that all of its moments are hit. */
  private static final long MICROS = 1_500;

  private static final int ROUNDS = 40;

  /** When nothing has changed for so long, nothing will. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  final Trial trial;

  WaitingRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that a pause ends with the wait, and so does the place in a line")
  void aWaitInVainIsOverInTime() throws InterruptedException {
    Duration wait = trial.allowance().multipliedBy(3).dividedBy(2);
    LockManager locks = trial.open("retryDelay=10s");
    List<LockRequest> requests = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      String name = trial.name("busy");
      Rival.holding(trial, name);
      requests.add(requestOf(name).waitAtMost(wait));
    }
    CompletableFuture<?> ahead = locks.tryAcquireAsync(requests.get(3).waitForever());

    try (Stalls stalls = Stalls.watched()) {
      List<Call<?>> calls =
          List.of(
              Call.begin(() -> locks.tryAcquire(requests.get(0))),
              Call.begin(() -> locks.acquire(requests.get(1))),
              Call.begin(() -> locks.tryAcquireAsync(requests.get(2)).get()),
              Call.begin(() -> locks.acquire(requests.get(3))));
      for (Call<?> call : calls) {
        assertThat(call.awaited(trial).took())
            .isLessThan(wait.plus(trial.allowance()).plus(stalls.worst()));
      }
    }
    ahead.cancel(true);
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that an outage ends with the wait, but for the time-out of one attempt")
  void aWaitThroughAnOutageIsOverInTime() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("outage");
    Duration wait = trial.allowance();
    LockManager locks = trial.open("nodeTimeout=100ms");
    trial.begin(TckFault.FROZEN, trial.nodes(), name);

    try (Stalls stalls = Stalls.watched()) {
      Call<?> call = Call.begin(() -> locks.acquire(requestOf(name).waitAtMost(wait)));

      assertThat(call.awaited(trial).took())
          .isLessThan(wait.plusMillis(100).plus(trial.allowance()).plus(stalls.worst()));
    }
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that no attempt starts once the wait is over")
  void nothingIsTakenWhenTheWaitIsOver() throws InterruptedException {
    trial.needsNodes(1);
    String name = trial.name("late");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    LockRequest request = requestOf(name).waitAtMost(Duration.ofMillis(100));

    Call<?> inLine = Call.begin(() -> locks.acquire(request));
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(request);
    inLine.awaited(trial);
    trial.soon().until("the future was over", future::isDone);
    rival.letGo();

    assertThat(Attempts.staysFree(trial, name)).as("nobody takes it later").isTrue();
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that a wait that ends within a pause ends without one last attempt")
  void noAttemptIsMadeWhenTheWaitEnds() throws InterruptedException {
    trial.needsCounts();
    String name = trial.name("busy");
    Rival.holding(trial, name);
    LockManager locks = trial.open("retryDelay=10s");
    long ofOneAttempt = requestsOfOneAttempt(locks, name);
    long before = settledRequests();

    Trial.regardless(() -> locks.tryAcquire(requestOf(name).waitAtMost(Duration.ofMillis(50))));

    long requests = settledRequests() - before;
    if (requests > 2 * ofOneAttempt) {
      abort("there are no pauses between attempts, which is another rule's");
    }
    assertThat(requests)
        .as("requests of a wait that is shorter than any pause")
        .isLessThanOrEqualTo(ofOneAttempt);
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that the end of a wait leaves an attempt that is under way alone")
  void anAttemptUnderWayIsNotCutShort() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("slow");
    LockManager locks = trial.open("nodeTimeout=10s");
    Duration wait = Duration.ofMillis(100);
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    long begun = System.nanoTime();
    Call<Optional<Lease>> call =
        Call.begin(() -> locks.tryAcquire(requestOf(name).waitAtMost(wait)));
    trial.soon().until("the wait was over", () -> since(begun).compareTo(wait.multipliedBy(2)) > 0);
    trial.end(TckFault.FROZEN, trial.blocking(), name);

    assertThat(call.awaited(trial).result().flatMap(lease -> lease))
        .as("the attempt that was under way: %s", call)
        .isPresent();
  }

  @Test
  @Rule("WAIT-2")
  @IfThisFails("check that a waiter tries on until its own time is over, behind others, too")
  void nobodyGivesUpBeforeTheTimeIsOver() throws InterruptedException {
    String name = trial.name("busy");
    Rival.holding(trial, name);
    LockManager locks = trial.open();
    LockRequest request = requestOf(name).waitAtMost(WAIT);

    CompletableFuture<Optional<Lease>> patient =
        trial.open().tryAcquireAsync(requestOf(name).waitForever());
    List<Call<?>> calls =
        List.of(
            Call.begin(() -> locks.tryAcquire(request)),
            Call.begin(() -> locks.acquire(request)),
            Call.begin(() -> locks.tryAcquireAsync(request).get()));
    Call<Lease> unlimited = Call.begin(() -> trial.open().acquire(name, trial.ttl()));

    for (Call<?> call : calls) {
      assertThat(call.awaited(trial).took()).isGreaterThanOrEqualTo(WAIT.minus(TICK));
    }
    assertThat(unlimited.isOver()).as("acquire without a limit: %s", unlimited).isFalse();
    assertThat(patient).as("waitForever").isNotDone();
  }

  @Test
  @Rule("WAIT-2")
  @IfThisFails("check that an outage ends no wait: the nodes may be back in time")
  void nobodyGivesUpWhileNodesRefuse() {
    trial.needs(TckFault.REFUSING);
    String name = trial.name("refused");
    LockManager locks = trial.open();
    trial.begin(TckFault.REFUSING, trial.nodes(), name);

    Call<Lease> call = Call.begin(() -> locks.acquire(requestOf(name).waitAtMost(WAIT)));

    if (call.awaited(trial).thrown().filter(LockException.class::isInstance).isEmpty()) {
      abort("it did not give up: " + call);
    }
    assertThat(call.took()).isGreaterThanOrEqualTo(WAIT.minus(TICK));
  }

  @Test
  @Rule("WAIT-3")
  @IfThisFails("check that waiters stand in line, futures and threads in the same one")
  void waitersAreServedInTheOrderInWhichTheyCame() throws InterruptedException {
    int waiters = 10;
    String name = trial.name("line");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    List<Integer> served = new CopyOnWriteArrayList<>();
    for (int i = 0; i < waiters; i++) {
      int number = i;
      if (i % 2 == 0) {
        Call<?> waiter =
            Call.begin(
                () -> {
                  serve(served, number, locks.acquire(requestOf(name).waitForever()));
                  return number;
                });
        trial.soon().until("a thread waited", waiter::isWaiting);
      } else {
        locks
            .tryAcquireAsync(requestOf(name).waitForever())
            .thenAccept(lease -> lease.ifPresent(got -> serve(served, number, got)));
      }
    }

    rival.letGo();

    untilNoMoreCome(served::size, waiters);
    assertThat(served).isSorted();
  }

  @Test
  @Rule("WAIT-4")
  @IfThisFails("check that those behind the first in line ask no node")
  void aHundredWaitersAskAsSeldomAsOne() throws InterruptedException {
    trial.needsCounts();
    String name = trial.name("crowd");
    Rival.holding(trial, name);
    LockManager locks = trial.open("retryDelay=40ms");
    long ofOneAttempt = requestsOfOneAttempt(locks, name);
    List<CompletableFuture<?>> waiters = new ArrayList<>();
    long before = requests();
    waiters.add(locks.tryAcquireAsync(requestOf(name).waitForever()));
    long ofOne = requestsSoon(before);

    long beforeOthers = requests();
    for (int i = 1; i < 100; i++) {
      waiters.add(locks.tryAcquireAsync(requestOf(name).waitForever()));
    }

    assertThat(requestsSoon(beforeOthers))
        .as("requests of 100 waiters, of 1: %s, of an attempt: %s", ofOne, ofOneAttempt)
        .isLessThan(4 * ofOne + 20 * ofOneAttempt);
    waiters.forEach(waiter -> waiter.cancel(true));
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that the first in line goes on asking, or is told of a release")
  void aWaiterGetsWhatSomebodyElseLetsGo() throws InterruptedException {
    String name = trial.name("passed-on");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    Call<Lease> waiter = Call.begin(() -> locks.acquire(requestOf(name).waitForever()));
    trial.soon().until("a thread waited", waiter::isWaiting);

    rival.letGo();

    assertThat(waiter.awaited(trial).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that the first in line goes on asking, because nobody tells of an expiry")
  void aWaiterGetsALockThatExpires() throws InterruptedException {
    trial.needsExpiry();
    String name = trial.name("expired");
    Rival.holdingBriefly(trial, name);

    Call<Optional<Lease>> waiter =
        Call.begin(() -> trial.open().tryAcquireAsync(requestOf(name).waitForever()).get());

    assertThat(waiter.awaited(trial).result().flatMap(lease -> lease)).isPresent();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that whoever leaves a line, with the lock or without, lets the next one try")
  void everybodyInALineGetsItsTurn() throws InterruptedException {
    String name = trial.name("line");
    LockManager locks = trial.open();
    Lease held = trial.take(locks, name, trial.ttl());
    Call<?> impatient =
        Call.begin(() -> locks.acquire(requestOf(name).waitAtMost(Duration.ofMillis(50))));
    List<Call<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiters.add(waiting(() -> locks.acquire(requestOf(name).waitForever())));
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(requestOf(name).waitForever());
      waiters.add(Call.begin(() -> future.get().orElseThrow()));
    }
    impatient.awaited(trial);

    Attempts.giveBack(trial, held);

    assertAllServed(name, waiters, List.of());
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that whoever gives up leaves the turn to the next in line")
  void whoeverGivesUpLeavesTheTurnToTheNext() throws InterruptedException {
    LockManager locks = trial.open();
    String ofThread = trial.name("interrupted");
    Rival first = Rival.holding(trial, ofThread);
    Call<Lease> interrupted = waiting(() -> locks.acquire(requestOf(ofThread).waitForever()));
    Call<Lease> behindIt = waiting(() -> locks.acquire(requestOf(ofThread).waitForever()));
    String ofFuture = trial.name("cancelled");
    Rival second = Rival.holding(trial, ofFuture);
    CompletableFuture<?> cancelled = locks.tryAcquireAsync(requestOf(ofFuture).waitForever());
    Call<Lease> behindThat = waiting(() -> locks.acquire(requestOf(ofFuture).waitForever()));

    interrupted.interrupt();
    cancelled.cancel(true);
    first.letGo();
    second.letGo();

    assertAllServed(ofThread, List.of(behindIt), List.of(interrupted));
    assertAllServed(ofFuture, List.of(behindThat), List.of());
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a release is not overlooked that comes while somebody joins the line")
  void aLockThatIsReleasedWhileAWaiterComesIsGot() throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = trial.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = trial.name("race");
      Lease held = trial.take(locks, name, trial.ttl());
      List<Call<Lease>> waiters = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        CompletableFuture<Optional<Lease>> future =
            locks.tryAcquireAsync(requestOf(name).waitForever());
        waiters.add(Call.begin(() -> future.get().orElseThrow()));
      }
      seed.pauseUpTo(MICROS / 3);

      Attempts.giveBack(trial, held);

      assertAllServed(name, waiters, List.of());
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that each name has a line of its own")
  void namesDoNotWaitForEachOther() throws InterruptedException {
    String name = trial.name("busy");
    Rival.holding(trial, name);
    LockManager locks = trial.open();
    CompletableFuture<?> waiter = locks.tryAcquireAsync(requestOf(name).waitForever());

    Call<Lease> other = Call.begin(() -> locks.acquire(trial.name("free"), trial.ttl()));

    assertThat(other.awaited(trial).result()).as("%s", other).isPresent();
    assertThat(waiter).isNotDone();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a wait outlasts an outage")
  void aWaiterGetsTheLockWhenTheNodesAreBack() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("back");
    LockManager locks = trial.open("nodeTimeout=100ms");
    trial.begin(TckFault.FROZEN, trial.nodes(), name);
    Call<Lease> waiter = Call.begin(() -> locks.acquire(requestOf(name).waitForever()));
    trial.soon().until("a thread waited", waiter::isWaiting);

    trial.end(TckFault.FROZEN, trial.nodes(), name);

    assertThat(waiter.awaited(trial).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("WAIT-6")
  @IfThisFails("check that there is a pause between attempts, and how long it is")
  void pausesAreBetweenHalfTheDelayAndAllOfIt() throws InterruptedException {
    trial.needsCounts();
    String name = trial.name("paused");
    Rival.holding(trial, name);
    LockManager locks = trial.open("retryDelay=100ms");
    long perAttempt = requestsOfOneAttempt(locks, name);
    Duration delay = Duration.ofMillis(100);
    Duration shortest = Duration.ofMillis(50);
    int pauses = 6;

    Tries.anyOf( // a machine that stalls makes each of them longer
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Attempting attempting = new Attempting(trial.node(0), perAttempt);
            CompletableFuture<?> waiter = locks.tryAcquireAsync(requestOf(name).waitForever());
            attempting.observe(trial, pauses + 1);
            waiter.cancel(true);

            Duration tolerance = stalls.worst().plusMillis(5);
            assertThat(attempting.longestPauses())
                .as("at least half of the delay")
                .allSatisfy(pause -> assertThat(pause.plus(tolerance)).isGreaterThan(shortest));
            assertThat(attempting.between(0, pauses))
                .as("at most the delay, %d times", pauses)
                .isLessThan(delay.plus(tolerance).multipliedBy(pauses));
          }
        });
  }

  @Test
  @Rule("WAIT-6")
  @IfThisFails("check that pauses are random, so that contenders do not meet again and again")
  void waitersDoNotAskInStep() {
    trial.needsCounts();
    int waiters = 20;
    Tries.anyOf( // a machine that stalls wakes all at once
        () -> {
          LockManager locks = trial.open("retryDelay=200ms");
          List<String> names = new ArrayList<>();
          for (int i = 0; i < waiters; i++) {
            names.add(trial.name("in-step"));
            Rival.holding(trial, names.get(i));
          }
          long perAttempt = requestsOfOneAttempt(locks, names.get(0));
          Attempting attempting = new Attempting(trial.node(0), perAttempt);
          names.forEach(name -> locks.tryAcquireAsync(requestOf(name).waitForever()));

          attempting.observe(trial, 2 * waiters);

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

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that an interrupt reaches whoever waits, first in line or not, and only it")
  void anInterruptEndsAWaitAndDisturbsNobody() throws InterruptedException {
    String name = trial.name("interrupted");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    List<Interrupted> waiters = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Interrupted waiter = new Interrupted(() -> locks.acquire(name, trial.ttl()));
      waiter.start();
      waiters.add(waiter);
      trial.soon().until("a thread waited", waiter::isWaiting);
    }

    List<Interrupted> interrupted = List.of(waiters.get(0), waiters.get(3), waiters.get(5));
    for (Interrupted waiter : interrupted) {
      waiter.interrupt();
      trial.soon().until("an interrupted wait was over", waiter::isOver);
      assertThat(waiter.endedByInterrupt()).as("%s", waiter).isTrue();
    }
    rival.letGo();

    waiters.removeAll(interrupted);
    untilNoMoreCome(() -> waiters.stream().filter(Interrupted::isOver).count(), 1);
    assertThat(waiters)
        .as("the others")
        .allSatisfy(waiter -> assertThat(waiter.isOver() && waiter.lease().isEmpty()).isFalse());
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check what becomes of an interrupt that comes before the call")
  void whoIsInterruptedBeforehandGetsNoLock() throws InterruptedException {
    String name = trial.name("before");
    LockManager locks = trial.open();
    for (LockRequest request : List.of(requestOf(name), requestOf(name).waitForever())) {
      Interrupted caller =
          new Interrupted(
              () -> {
                Thread.currentThread().interrupt();
                return locks.tryAcquire(request).orElseThrow();
              });
      caller.start();
      trial.soon().until("the call was over", caller::isOver);

      assertThat(caller.endedByInterrupt()).as("%s", caller).isTrue();
      Attempts.awaitFree(trial, name);
    }
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that what was granted to a caller who is gone is released")
  void anInterruptAtAnyMomentLeavesNoLockAndIsNeverSwallowed() throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = trial.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = trial.name("moment");
      Optional<Rival> rival =
          seed.nextBoolean() ? Optional.of(Rival.holding(trial, name)) : Optional.empty();
      Interrupted caller = new Interrupted(() -> locks.acquire(name, trial.ttl()));
      caller.start();
      seed.pauseUpTo(MICROS);
      caller.interrupt();

      trial
          .soon()
          .until(
              "the interrupt came through; " + seed,
              () -> caller.endedByInterrupt() || caller.leftInterruptToCaller());
      rival.ifPresent(Rival::letGo);
      caller.lease().ifPresent(lease -> Attempts.giveBack(trial, lease));
      Attempts.awaitFree(trial, name);
    }
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that an interrupt does not wait for nodes, and that their late grants go")
  void anInterruptWhileNodesHangEndsTheCallAtOnceAndLeavesNoLock() {
    trial.needs(TckFault.FROZEN);
    Seed seed = new Seed();
    LockManager locks = trial.open("nodeTimeout=10s");
    String ending = trial.name("hanging");
    trial.begin(TckFault.FROZEN, trial.nodes(), ending);
    List<Interrupted> callers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      String name = ending + i;
      Interrupted caller = new Interrupted(() -> locks.acquire(name, trial.ttl()));
      callers.add(caller);
      caller.start();
      seed.pauseUpTo(MICROS);
    }

    long begun = System.nanoTime();
    callers.forEach(Interrupted::interrupt);
    trial.soon().until("all were over", () -> callers.stream().allMatch(Interrupted::isOver));

    assertThat(since(begun)).as("not the time-out of nodes").isLessThan(Duration.ofSeconds(5));
    assertThat(callers).as("%s", seed).allMatch(Interrupted::endedByInterrupt);
    trial.end(TckFault.FROZEN, trial.nodes(), ending);
    LockManager others = trial.open();
    for (int i = 0; i < callers.size(); i++) {
      Attempts.untilGot(trial, others, ending + i);
    }
  }

  @Test
  @Rule("WAIT-8")
  @IfThisFails("check that an attempt without a wait looks whether others wait in line")
  void nobodyOvertakesThoseWhoWait() throws InterruptedException {
    LockManager locks = trial.open("retryDelay=60s");
    for (int round = 0; round < 3; round++) {
      String name = trial.name("overtaken");
      Rival rival = Rival.holding(trial, name);
      CompletableFuture<?> waiter = locks.tryAcquireAsync(requestOf(name).waitForever());
      untilTheFirstInLineWasRefused(locks, name);

      rival.letGo();

      assertThat(Attempts.once(locks, name, trial.ttl())).as("though the lock is free").isEmpty();
      waiter.cancel(true);
    }
  }

  @Test
  @Rule("WAIT-8")
  @IfThisFails("check that an attempt without a wait does not wait for that of the first in line")
  void behindAnAttemptThatIsUnderWayAnAttemptIsEmptyAtOnce() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("under-way");
    LockManager locks = trial.open("nodeTimeout=10s");
    trial.begin(TckFault.FROZEN, trial.nodes(), name);
    Call<?> first = Call.begin(() -> locks.acquire(requestOf(name).waitForever()));
    trial.soon().until("a thread waited", first::isWaiting);

    Call<Optional<Lease>> second = Call.begin(() -> locks.tryAcquire(name, trial.ttl()));

    assertThat(second.awaited(trial).result()).as("%s", second).hasValue(Optional.empty());
    assertThat(second.took()).as("not the time-out of nodes").isLessThan(Duration.ofSeconds(5));
    assertThat(first.isOver()).isFalse();
    first.interrupt();
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that a future that was given up leaves the line")
  void aFutureThatWasGivenUpTakesNothing() throws InterruptedException {
    String name = trial.name("given-up");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    LockRequest request = requestOf(name).waitForever();
    CompletableFuture<Optional<Lease>> cancelled = locks.tryAcquireAsync(request);
    CompletableFuture<Optional<Lease>> completed = locks.tryAcquireAsync(request);
    CompletableFuture<Optional<Lease>> timedOut =
        locks.tryAcquireAsync(request).orTimeout(50, TimeUnit.MILLISECONDS);
    trial.soon().until("a time-out ended a future", timedOut::isDone);
    cancelled.cancel(true);
    completed.complete(Optional.empty());

    rival.letGo();

    Attempts.awaitFreeForGood(trial, name);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that what was granted to a future that nobody takes it from is released")
  void aFutureThatIsCancelledAtAnyMomentLeavesNoLock() throws InterruptedException {
    cancelAtAnyMoment(false);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that what nobody took is given back at once, however long it was to be held")
  void aFutureThatIsCancelledLeavesNoLockThatWasToBeHeldForSomeTime() throws InterruptedException {
    trial.needs(LockCapability.HOLD_AT_LEAST);
    cancelAtAnyMoment(true);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that late grants of nodes go that nobody waits for any more")
  void futuresThatAreCancelledWhileNodesHangLeaveNoLock() {
    trial.needs(TckFault.FROZEN);
    Seed seed = new Seed();
    LockManager locks = trial.open("nodeTimeout=10s");
    String ending = trial.name("hanging");
    trial.begin(TckFault.FROZEN, trial.nodes(), ending);
    List<CompletableFuture<?>> futures = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      futures.add(locks.tryAcquireAsync(requestOf(ending + i).waitForever()));
      seed.pauseUpTo(MICROS);
    }

    futures.forEach(future -> future.cancel(true));

    trial.end(TckFault.FROZEN, trial.nodes(), ending);
    LockManager others = trial.open();
    for (int i = 0; i < futures.size(); i++) {
      Attempts.untilGot(trial, others, ending + i);
    }
  }

  private void cancelAtAnyMoment(boolean toBeHeld) throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = trial.open();
    List<String> names = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      String name = trial.name("moment");
      names.add(name);
      Optional<Rival> rival =
          seed.nextBoolean() ? Optional.of(Rival.holding(trial, name)) : Optional.empty();
      LockRequest request = requestOf(name).waitForever();
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(toBeHeld ? request.holdAtLeast(trial.ttl()) : request);
      seed.pauseUpTo(MICROS);

      boolean cancelled = future.cancel(true);
      rival.ifPresent(Rival::letGo);
      if (cancelled) {
        Attempts.awaitFree(trial, name);
      } else {
        future.join().ifPresent(lease -> Attempts.giveBack(trial, lease));
      }
    }
    trial
        .soon()
        .until(
            "nobody took them later; " + seed,
            () -> names.stream().allMatch(name -> trial.isFreeOn(trial.nodes(), name)));
  }

  private Call<Lease> waiting(Callable<Lease> call) {
    Call<Lease> waiter = Call.begin(call);
    trial.soon().until("a thread waited", () -> waiter.isWaiting() || waiter.isOver());
    return waiter;
  }

  /**
   * Waits until all in a line have had their turn, whatever they made of it, which is other rules'.
   * So is what those get who had given up, and what nobody gives back: that is taken away.
   */
  private void assertAllServed(String name, List<Call<Lease>> line, List<Call<Lease>> gone) {
    List<Call<Lease>> left = new ArrayList<>(line);
    left.addAll(gone);
    AtomicLong served = new AtomicLong(System.nanoTime());
    trial
        .soon()
        .until(
            "all in a line had their turn",
            () -> {
              List<Call<Lease>> over = left.stream().filter(Call::isOver).toList();
              for (Call<Lease> waiter : over) {
                waiter.result().ifPresent(lease -> Attempts.giveBack(trial, lease));
                served.set(System.nanoTime());
              }
              left.removeAll(over);
              if (since(served.get()).compareTo(Attempts.LOOK) > 0) {
                trial.nodes().forEach(node -> node.remove(name));
              }
              return left.stream().noneMatch(line::contains);
            });
  }

  private LockRequest requestOf(String name) {
    return LockRequest.of(name, trial.ttl());
  }

  private void serve(List<Integer> served, int number, Lease lease) {
    served.add(number);
    Trial.regardless(lease::release);
  }

  /** Those behind the first are told what its last attempt saw. Whoever tells nothing is let be. */
  private void untilTheFirstInLineWasRefused(LockManager locks, String name)
      throws InterruptedException {
    long begun = System.nanoTime();
    while (since(begun).compareTo(Attempts.LOOK) < 0) {
      try {
        Attempts.giveBack(trial, locks.acquire(requestOf(name).waitAtMost(Duration.ZERO)));
      } catch (LockUnavailableException behind) {
        if (behind.refused() > 0) {
          return;
        }
      } catch (LockException anotherRule) {
        return;
      }
    }
  }

  /** Waits until all have come, or no more come: that they do is another rule's. */
  private void untilNoMoreCome(LongSupplier come, int all) {
    AtomicLong last = new AtomicLong();
    AtomicLong changed = new AtomicLong(System.nanoTime());
    trial
        .soon()
        .until(
            "all had come, or no more came",
            () -> {
              long now = come.getAsLong();
              if (last.getAndSet(now) != now) {
                changed.set(System.nanoTime());
              }
              return now == all || since(changed.get()).compareTo(QUIET) > 0;
            });
  }

  private long requests() {
    return trial.node(0).requests().orElseThrow();
  }

  /** How many requests there are until a test has looked on. */
  private long requestsSoon(long before) {
    long begun = System.nanoTime();
    trial.soon().until("time passed", () -> since(begun).compareTo(Attempts.LOOK) > 0);
    return requests() - before;
  }

  private long requestsOfOneAttempt(LockManager locks, String name) throws InterruptedException {
    int attempts = 5;
    LockRequest once = requestOf(name).waitAtMost(Duration.ZERO);
    Trial.regardless(() -> locks.acquire(once)); // which may bring nodes what they need
    long before = settledRequests();
    for (int i = 0; i < attempts; i++) {
      Trial.regardless(() -> locks.acquire(once));
    }
    return Math.max(1, Math.round((double) (settledRequests() - before) / attempts));
  }

  private long settledRequests() {
    trial.requestsWhenAllAreAnswered();
    return requests();
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
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

    void observe(Trial trial, int attempts) {
      AtomicLong last = new AtomicLong(System.nanoTime());
      trial
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

    /** Each as long as it can have been. */
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
