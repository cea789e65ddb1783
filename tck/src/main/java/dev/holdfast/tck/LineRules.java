package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Those who wait stand in line, and who leaves it lets the next one try. */
abstract class LineRules {
  /** So that a release comes while a waiter comes. */
  private static final long MICROS = 500;

  private static final int ROUNDS = 40;

  final Trial trial;

  LineRules(Trial trial) {
    this.trial = trial;
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
                  serve(served, number, locks.acquire(trial.request(name).waitForever()));
                  return number;
                });
        trial.soon().until("a thread waited", waiter::isWaiting);
      } else {
        locks
            .tryAcquireAsync(trial.request(name).waitForever())
            .thenAccept(lease -> lease.ifPresent(got -> serve(served, number, got)));
      }
    }

    rival.letGo();

    trial.soon().untilNoMoreCome(served::size, waiters);
    assertThat(served).isSorted();
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that the first in line goes on asking, or is told of a release")
  void aWaiterGetsWhatSomebodyElseLetsGo() throws InterruptedException {
    String name = trial.name("passed-on");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    Call<Lease> waiter = Call.begin(() -> locks.acquire(trial.request(name).waitForever()));
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
        Call.begin(() -> trial.open().tryAcquireAsync(trial.request(name).waitForever()).get());

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
        Call.begin(() -> locks.acquire(trial.request(name).waitAtMost(Duration.ofMillis(50))));
    List<Call<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiters.add(waiting(() -> locks.acquire(trial.request(name).waitForever())));
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(trial.request(name).waitForever());
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
    Call<Lease> interrupted = waiting(() -> locks.acquire(trial.request(ofThread).waitForever()));
    Call<Lease> behindIt = waiting(() -> locks.acquire(trial.request(ofThread).waitForever()));
    String ofFuture = trial.name("cancelled");
    Rival second = Rival.holding(trial, ofFuture);
    CompletableFuture<?> cancelled = locks.tryAcquireAsync(trial.request(ofFuture).waitForever());
    Call<Lease> behindThat = waiting(() -> locks.acquire(trial.request(ofFuture).waitForever()));

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
            locks.tryAcquireAsync(trial.request(name).waitForever());
        waiters.add(Call.begin(() -> future.get().orElseThrow()));
      }
      seed.pauseUpTo(MICROS);

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
    CompletableFuture<?> waiter = locks.tryAcquireAsync(trial.request(name).waitForever());

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
    Call<Lease> waiter = Call.begin(() -> locks.acquire(trial.request(name).waitForever()));
    trial.soon().until("a thread waited", waiter::isWaiting);

    trial.end(TckFault.FROZEN, trial.nodes(), name);

    assertThat(waiter.awaited(trial).result()).as("%s", waiter).isPresent();
  }

  @Test
  @Rule("WAIT-8")
  @IfThisFails("check that an attempt without a wait looks whether others wait in line")
  void nobodyOvertakesThoseWhoWait() throws InterruptedException {
    LockManager locks = trial.open("retryDelay=60s");
    for (int round = 0; round < 3; round++) {
      String name = trial.name("overtaken");
      Rival rival = Rival.holding(trial, name);
      CompletableFuture<?> waiter = locks.tryAcquireAsync(trial.request(name).waitForever());
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
    Call<?> first = Call.begin(() -> locks.acquire(trial.request(name).waitForever()));
    trial.soon().until("a thread waited", first::isWaiting);

    Call<Optional<Lease>> second = Call.begin(() -> locks.tryAcquire(name, trial.ttl()));

    assertThat(second.awaited(trial).result()).as("%s", second).hasValue(Optional.empty());
    assertThat(second.took()).as("not the time-out of nodes").isLessThan(Duration.ofSeconds(5));
    assertThat(first.isOver()).isFalse();
    first.interrupt();
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
              if (Elapsed.since(served.get()).compareTo(Attempts.LOOK) > 0) {
                trial.nodes().forEach(node -> node.remove(name));
              }
              return left.stream().noneMatch(line::contains);
            });
  }

  private void serve(List<Integer> served, int number, Lease lease) {
    served.add(number);
    Trial.regardless(lease::release);
  }

  /** Those behind the first are told what its last attempt saw. Whoever tells nothing is let be. */
  private void untilTheFirstInLineWasRefused(LockManager locks, String name)
      throws InterruptedException {
    long begun = System.nanoTime();
    while (Elapsed.since(begun).compareTo(Attempts.LOOK) < 0) {
      try {
        Attempts.giveBack(trial, locks.acquire(trial.request(name).waitAtMost(Duration.ZERO)));
      } catch (LockUnavailableException behind) {
        if (behind.refused() > 0) {
          return;
        }
      } catch (LockException anotherRule) {
        return;
      }
    }
  }
}
