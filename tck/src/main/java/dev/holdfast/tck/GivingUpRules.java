package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Whoever is interrupted or cancelled while waiting takes nothing. */
abstract class GivingUpRules {
  /** About as long as an attempt takes, so that all of its moments are hit. */
  private static final long MICROS = 1_500;

  private static final int ROUNDS = 40;

  final Trial trial;

  GivingUpRules(Trial trial) {
    this.trial = trial;
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
    trial.soon().untilNoMoreCome(() -> waiters.stream().filter(Interrupted::isOver).count(), 1);
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
    for (LockRequest request : List.of(trial.request(name), trial.request(name).waitForever())) {
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

    assertThat(Elapsed.since(begun))
        .as("not the time-out of nodes")
        .isLessThan(Duration.ofSeconds(5));
    assertThat(callers).as("%s", seed).allMatch(Interrupted::endedByInterrupt);
    trial.end(TckFault.FROZEN, trial.nodes(), ending);
    LockManager others = trial.open();
    for (int i = 0; i < callers.size(); i++) {
      Attempts.untilGot(trial, others, ending + i);
    }
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that a future that was given up leaves the line")
  void aFutureThatWasGivenUpTakesNothing() throws InterruptedException {
    String name = trial.name("given-up");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    LockRequest request = trial.request(name).waitForever();
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
      futures.add(locks.tryAcquireAsync(trial.request(ending + i).waitForever()));
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
      Optional<Rival> rival =
          seed.nextBoolean() ? Optional.of(Rival.holding(trial, name)) : Optional.empty();
      LockRequest request = trial.request(name).waitForever();
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(toBeHeld ? request.holdAtLeast(trial.ttl()) : request);
      seed.pauseUpTo(MICROS);

      boolean cancelled = future.cancel(true);
      rival.ifPresent(Rival::letGo);
      if (cancelled) {
        names.add(name);
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
}
