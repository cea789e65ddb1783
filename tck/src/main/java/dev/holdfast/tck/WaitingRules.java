package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Others hold the lock, and callers wait for it: for as long as they said. */
abstract class WaitingRules {
  /** Longer than many pauses between attempts. */
  private static final Duration WAIT = Duration.ofMillis(300);

  /** Error of a clock that ticks in milliseconds. */
  private static final Duration TICK = Duration.ofMillis(1);

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
      requests.add(trial.request(name).waitAtMost(wait));
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
    trial.needsNodeOptions();
    trial.needs(TckFault.FROZEN);
    String name = trial.name("outage");
    Duration wait = trial.allowance();
    LockManager locks = trial.open("nodeTimeout=100ms");
    trial.begin(TckFault.FROZEN, trial.nodes(), name);

    try (Stalls stalls = Stalls.watched()) {
      Call<?> call = Call.begin(() -> locks.acquire(trial.request(name).waitAtMost(wait)));

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
    LockRequest request = trial.request(name).waitAtMost(Duration.ofMillis(100));

    Call<?> inLine = Call.begin(() -> locks.acquire(request));
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(request);
    inLine.awaited(trial);
    trial.soon().until("the future was over", future::isDone);
    rival.letGo();

    assertThat(Attempts.staysFree(trial, name)).as("nobody takes it later").isTrue();
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
        Call.begin(() -> locks.tryAcquire(trial.request(name).waitAtMost(wait)));
    trial
        .soon()
        .until("the wait was over", () -> Elapsed.since(begun).compareTo(wait.multipliedBy(2)) > 0);
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
    LockRequest request = trial.request(name).waitAtMost(WAIT);

    CompletableFuture<Optional<Lease>> patient =
        trial.open().tryAcquireAsync(trial.request(name).waitForever());
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

    Call<Lease> call = Call.begin(() -> locks.acquire(trial.request(name).waitAtMost(WAIT)));

    if (call.awaited(trial).thrown().filter(LockException.class::isInstance).isEmpty()) {
      abort("it did not give up: " + call);
    }
    assertThat(call.took()).isGreaterThanOrEqualTo(WAIT.minus(TICK));
  }
}
