package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Others hold the lock, and callers wait for it: for as long as they said. */
public abstract class WaitingRules {
  /** Longer than many pauses between attempts. */
  private static final Duration WAIT = Duration.ofMillis(300);

  /** Keeps the nodes free for other tests during waits of seconds. */
  private static final String SELDOM = "retryDelay=500ms";

  /** Longer than 10 s, which is the limit that comes to mind first. */
  private static final Duration SECONDS = Duration.ofMillis(10_500);

  /** Error of a clock that ticks in milliseconds. */
  private static final Duration TICK = Duration.ofMillis(1);

  final TckFixture fixture;

  public WaitingRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that a pause ends with the wait, and so does the place in a line")
  void anUnsuccessfulWaitIsOverInTime() {
    Duration wait = fixture.allowance().multipliedBy(3).dividedBy(2);
    LockManager locks = fixture.open("retryDelay=10s");
    Retries.anyOf(() -> assertInTime(locks, wait));
  }

  private void assertInTime(LockManager locks, Duration wait) {
    List<LockRequest> requests = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      String name = fixture.name("busy");
      Contender.holding(fixture, name);
      requests.add(fixture.request(name).waitAtMost(wait));
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
        assertThat(call.awaited(fixture).took())
            .isLessThan(wait.plus(fixture.allowance()).plus(stalls.worst()));
      }
    } finally {
      ahead.cancel(true);
    }
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that an outage ends with the wait, except for the timeout of one attempt")
  void aWaitThroughAnOutageIsOverInTime() {
    Needs.nodeOptions(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("outage");
    Duration wait = fixture.allowance();
    LockManager locks = fixture.open("nodeTimeout=100ms");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);

    try (Stalls stalls = Stalls.watched()) {
      Call<?> call = Call.begin(() -> locks.acquire(fixture.request(name).waitAtMost(wait)));

      assertThat(call.awaited(fixture).took())
          .isLessThan(wait.plusMillis(100).plus(fixture.allowance()).plus(stalls.worst()));
    }
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that no attempt starts once the wait is over")
  void nothingIsTakenWhenTheWaitIsOver() throws InterruptedException {
    Needs.nodes(fixture, 1);
    String name = fixture.name("late");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    LockRequest request = fixture.request(name).waitAtMost(Duration.ofMillis(100));

    Call<?> queued = Call.begin(() -> locks.acquire(request));
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(request);
    queued.awaited(fixture);
    fixture.soon().until("the future was over", future::isDone);
    contender.letGo();

    assertThat(Attempts.staysFree(fixture, name)).as("no caller takes it later").isTrue();
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that the end of a wait does not affect an attempt in flight")
  void anAttemptInFlightIsNotCutShort() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("slow");
    LockManager locks = fixture.open("nodeTimeout=10s");
    Duration wait = Duration.ofMillis(100);
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    long begun = System.nanoTime();
    Call<Optional<Lease>> call =
        Call.begin(() -> locks.tryAcquire(fixture.request(name).waitAtMost(wait)));
    fixture.awaitPast(begun, wait.multipliedBy(2));
    Faults.end(TckFault.FROZEN, fixture.blocking(), name);

    assertThat(call.awaited(fixture).result().flatMap(lease -> lease))
        .as("the attempt in flight: %s", call)
        .isPresent();
  }

  @Test
  @Rule("WAIT-2")
  @IfThisFails("check that a waiter tries on until its own time is over, behind others, too")
  void noWaiterGivesUpBeforeTheTimeIsOver() throws InterruptedException {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    LockRequest request = fixture.request(name).waitAtMost(WAIT);

    CompletableFuture<Optional<Lease>> patient =
        fixture.open().tryAcquireAsync(fixture.request(name).waitForever());
    List<Call<?>> calls =
        List.of(
            Call.begin(() -> locks.tryAcquire(request)),
            Call.begin(() -> locks.acquire(request)),
            Call.begin(() -> locks.tryAcquireAsync(request).get()));
    Call<Lease> unlimited = Call.begin(() -> fixture.open().acquire(name, fixture.briefTtl()));

    for (Call<?> call : calls) {
      assertThat(call.awaited(fixture).took()).isGreaterThanOrEqualTo(WAIT.minus(TICK));
    }
    if (unlimited.thrown().filter(LockConfigurationException.class::isInstance).isPresent()) {
      AnotherRule.isBroken("a short ttl is refused");
    }
    assertThat(unlimited.isOver()).as("acquire without a limit: %s", unlimited).isFalse();
    assertThat(patient).as("waitForever").isNotDone();
  }

  @Test
  @Rule("WAIT-2")
  @IfThisFails("check that an outage ends no wait: the nodes may be back in time")
  void noWaiterGivesUpWhileNodesRefuse() {
    Needs.of(fixture, TckFault.REFUSING);
    String name = fixture.name("refused");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.REFUSING, fixture.nodes(), name);

    Call<Lease> unlimited = Call.begin(() -> fixture.open().acquire(name, fixture.ttl()));
    Call<Lease> call = Call.begin(() -> locks.acquire(fixture.request(name).waitAtMost(WAIT)));

    if (call.awaited(fixture).thrown().filter(LockException.class::isInstance).isEmpty()) {
      abort("it did not give up: " + call);
    }
    assertThat(call.took()).isGreaterThanOrEqualTo(WAIT.minus(TICK));
    assertThat(unlimited.isOver()).as("acquire without a limit: %s", unlimited).isFalse();
  }

  /** Waits longer than a limit that a developer may have set because no call may wait forever. */
  @Test
  @Rule("WAIT-2")
  @IfThisFails("check that acquire without a wait has no limit that was not asked for")
  void acquireWithoutAWaitStillWaitsAfterSeconds() {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open(SELDOM);

    List<Call<?>> calls =
        List.of(
            Call.begin(() -> locks.acquire(name, fixture.ttl())),
            Call.begin(() -> fixture.open(SELDOM).acquire(fixture.request(name))),
            Call.begin(() -> locks.tryAcquire(fixture.request(name).waitForever())));
    boolean wait = Attempts.stays(SECONDS, () -> calls.stream().noneMatch(Call::isOver));

    assertThat(wait).as("all calls wait: %s", calls).isTrue();
    calls.forEach(Call::interrupt);
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that the end of a wait does not end the attempt in flight, nor its error")
  void aWaitThatEndsDuringAnAttemptReportsTheOutage() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=800ms");
    fixture.take(locks, fixture.name("before"), fixture.ttl()).close();
    for (Asking way : Asking.values()) {
      String name = fixture.name("silent");
      LockRequest request = fixture.request(name).waitAtMost(Duration.ofMillis(100));
      Faults.whileFrozen(
          fixture,
          fixture.blocking(),
          () ->
              assertThat(catchThrowable(() -> way.ask(locks, request)))
                  .as("thrown by %s though no other owner holds the lock", way)
                  .isInstanceOf(LockOutageException.class));
      fixture.nodes().forEach(node -> Attempts.needsVote(fixture, locks, node));
    }
  }
}
