package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Results belong to one user each: no other user sees what is done to one. */
abstract class AliasRules {
  private static final String HASTY = "nodeTimeout=150ms";

  final Trial trial;

  AliasRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that users who complete or cancel what lost() gave them do so alone")
  void nobodyCompletesLostForOthers() {
    Lease lease = trial.take(trial.open(), trial.name("lost"), trial.ttl());
    CompletableFuture<LossReason> before = of(lease.lost());

    tamper(lease.lost(), LossReason.MAX_HOLD);
    CompletableFuture<LossReason> after = of(lease.lost());

    assertThat(before).as("lost() of a lease that is held").isNotDone();
    assertThat(after).as("lost() that is asked for later").isNotDone();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that users who change what lost() gave them change no other's reason")
  void nobodyChangesTheReasonOfALossForOthers() {
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("lost"), trial.briefTtl());
    CompletableFuture<LossReason> before = of(lease.lost());
    trial.awaitOver(lease);
    trial.awaitRegardless("lost() completes", before::isDone);
    if (!before.isDone()) {
      abort("lost() does not complete, which is another rule's");
    }

    tamper(lease.lost(), LossReason.MAX_HOLD);

    assertThat(trial.soon().get("lost() that is asked for later completes", of(lease.lost())))
        .isEqualTo(before.join());
    assertThat(catchThrowableOfType(LockLostException.class, lease::requireHeld))
        .satisfiesAnyOf(
            thrown -> assertThat(thrown).isNull(),
            thrown -> assertThat(thrown.reason()).isNotEqualTo(LossReason.MAX_HOLD));
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that each call of releaseAsync() gives a stage of its own")
  void nobodyChangesTheAnswerToAReleaseForOthers() {
    Lease lease = trial.take(trial.open(), trial.name("released"), trial.ttl());
    CompletionStage<Boolean> first = lease.releaseAsync();
    boolean answer = trial.soon().get("the release is answered", first);

    tamper(first, !answer);

    assertThat(trial.soon().get("the next is answered", lease.releaseAsync())).isEqualTo(answer);
    assertThat(lease.release()).isEqualTo(answer);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that releaseAsync() goes on for others when one who asked gives up")
  void whoGivesUpAReleaseDoesSoAlone() {
    trial.needs(TckFault.FROZEN);
    Lease lease = trial.take(trial.open(), trial.name("released"), trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), lease.name());
    CompletionStage<Boolean> mine = lease.releaseAsync();
    CompletionStage<Boolean> others = lease.releaseAsync();

    giveUp(mine);
    trial.end(TckFault.FROZEN, trial.blocking(), lease.name());

    trial.soon().until("the release is answered", () -> others.toCompletableFuture().isDone());
    assertThat(others.toCompletableFuture()).isNotCancelled();
    assertThat(failureOf(others)).isNotInstanceOf(Changed.class);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that each call of extendAsync() gives a stage of its own")
  void whoGivesUpAnExtensionDoesSoAlone() {
    trial.needs(LockCapability.EXTENSION);
    trial.needs(TckFault.FROZEN);
    Lease lease = trial.take(trial.open(), trial.name("extended"), trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), lease.name());
    CompletionStage<Void> mine = lease.extendAsync(trial.ttl());
    CompletionStage<Void> others = lease.extendAsync(trial.ttl());

    giveUp(mine);
    trial.end(TckFault.FROZEN, trial.blocking(), lease.name());

    trial.soon().until("the extension is over", () -> others.toCompletableFuture().isDone());
    assertThat(others.toCompletableFuture()).isNotCancelled();
    assertThat(failureOf(others)).isNotInstanceOf(Changed.class);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that a future which is cancelled or completed ends no other's wait")
  void whoGivesUpAWaitDoesSoAlone() throws InterruptedException {
    String name = trial.name("waited-for");
    Rival rival = Rival.holding(trial, name);
    LockManager locks = trial.open();
    LockRequest request = trial.request(name).waitForever();
    List<CompletableFuture<Optional<Lease>>> waits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waits.add(locks.tryAcquireAsync(request));
    }

    waits.get(0).cancel(true);
    waits.get(2).complete(Optional.empty());
    waits.get(3).completeExceptionally(new Changed());
    List<CompletableFuture<Optional<Lease>>> others = List.of(waits.get(1), waits.get(4));

    assertThat(Attempts.stays(() -> others.stream().noneMatch(CompletableFuture::isDone)))
        .as("the others still wait")
        .isTrue();
    rival.letGo();
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that calls that see the same outage have an exception each")
  void nobodyChangesAnExceptionForOthers() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open(HASTY);
    String name = trial.name("silent");
    Lease held = trial.take(locks, trial.name("released"), trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    LockRequest request = trial.request(name).waitAtMost(Duration.ofMillis(300));
    List<Call<?>> calls = new ArrayList<>();
    List<CompletionStage<?>> stages = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(Call.begin(() -> locks.tryAcquire(request)));
      calls.add(Call.begin(held::release));
      stages.add(locks.tryAcquireAsync(request));
      stages.add(held.releaseAsync());
    }
    calls.forEach(call -> call.awaited(trial));

    List<Throwable> thrown = new ArrayList<>();
    calls.forEach(call -> call.thrown().ifPresent(thrown::add));
    for (CompletionStage<?> stage : stages) {
      trial.soon().until("a call is over", () -> stage.toCompletableFuture().isDone());
      thrown.add(failureOf(stage));
    }
    thrown.removeIf(failure -> !(failure instanceof LockException));
    if (thrown.isEmpty()) {
      abort("silence is no outage, which is another rule's");
    }
    Set<Throwable> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
    distinct.addAll(thrown);
    assertThat(distinct).as("exceptions of so many callers").hasSameSizeAs(thrown);
  }

  /** A mark that is left on one result, to be looked for on another. */
  private static final class Changed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Told by a stage that depends on it, which users have of their own. */
  private static CompletableFuture<LossReason> of(CompletionStage<LossReason> lost) {
    return lost.thenApply(reason -> reason).toCompletableFuture();
  }

  /** All that a user can do to a result. */
  private static <T> void tamper(CompletionStage<T> stage, T value) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    Trial.regardless(() -> future.orTimeout(1, TimeUnit.NANOSECONDS));
    Trial.regardless(() -> future.completeOnTimeout(value, 1, TimeUnit.NANOSECONDS));
    Trial.regardless(() -> future.completeAsync(() -> value, Runnable::run));
    Trial.regardless(() -> future.complete(value));
    Trial.regardless(() -> future.cancel(true));
    Trial.regardless(() -> future.obtrudeValue(value));
  }

  private static void giveUp(CompletionStage<?> stage) {
    CompletableFuture<?> future = stage.toCompletableFuture();
    future.cancel(true);
    Trial.regardless(() -> future.obtrudeException(new Changed()));
  }

  private static Throwable failureOf(CompletionStage<?> stage) {
    try {
      stage.toCompletableFuture().join();
      return new CancellationException("none");
    } catch (CompletionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (CancellationException e) {
      return e;
    }
  }
}
