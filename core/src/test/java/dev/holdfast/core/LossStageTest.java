package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The future of a loss, which all callers share and only a loss completes. */
class LossStageTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final CompletableFuture<LossReason> NEVER = new CompletableFuture<>();

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void onLossReturnsTheSameStageEachTime() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    assertThat(lease.onLoss() == lease.onLoss()).isTrue();
    assertThat(lease.onLoss().getNumberOfDependents()).isZero();
  }

  @Test
  void onlyALossCompletesTheStage() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    CompletableFuture<LossReason> lost = lease.onLoss();
    assertThat(lost.complete(LossReason.CLOSED)).isFalse();
    assertThat(lost.completeExceptionally(new IllegalStateException())).isFalse();
    assertThat(lost.cancel(true)).isFalse();
    assertThat(lost.completeAsync(() -> LossReason.CLOSED, Runnable::run)).isSameAs(lost);
    assertThat(lost.completeAsync(() -> LossReason.CLOSED)).isSameAs(lost);
    assertThatThrownBy(() -> lost.obtrudeValue(LossReason.CLOSED))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> lost.obtrudeException(new IllegalStateException()))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThat(lost).isNotDone();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void timeoutAppliesOnlyToTheDerivedStage() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    CompletableFuture<LossReason> lost = lease.onLoss();
    assertThat(lost.orTimeout(1, TimeUnit.MILLISECONDS)).failsWithin(Duration.ofSeconds(10));
    assertThat(lost.completeOnTimeout(LossReason.TAKEN, 1, TimeUnit.MILLISECONDS))
        .succeedsWithin(Duration.ofSeconds(10))
        .isEqualTo(LossReason.TAKEN);
    assertThat(lost.copy().complete(LossReason.TAKEN)).isTrue();
    assertThat(lost).isNotDone();
  }

  @Test
  void everyKindOfDependentStageCompletes() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    List<CompletableFuture<?>> before = dependents(lease.onLoss());
    assertThat(before).noneMatch(CompletableFuture::isDone);
    time.advance(TTL);
    assertThat(before).allMatch(CompletableFuture::isDone);
    assertThat(dependents(lease.onLoss())).as("afterwards").allMatch(CompletableFuture::isDone);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void stageRequestedAfterTheLossIsComplete() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    time.advance(TTL);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  @Rule("LOSS-5")
  @DisplayName("a dependent of the methods ...Async runs on the callback executor as well")
  void asynchronousDependentRunsOnTheCallbackExecutor() throws Exception {
    Queue<Runnable> callbacks = new ArrayDeque<>();
    LockManager own = ScriptedBackend.manager(backend, time).callbacks(callbacks::add).build();
    CompletableFuture<Void> dependent =
        own.acquire(LockRequest.of("own", TTL)).onLoss().thenRunAsync(() -> {});

    time.advance(TTL);
    assertThat(callbacks).isNotEmpty();
    callbacks.forEach(Runnable::run);

    assertThat(dependent).isDone();
  }

  @Test
  void blockingDependentDelaysNoOther() throws Exception {
    CountDownLatch unblocked = new CountDownLatch(1);
    LockManager closed = LockManagerBuilder.over(backend).clock(time).build();
    Lease lease = closed.acquire(LockRequest.of("blocked", TTL));
    CompletableFuture<Boolean> blocked =
        CompletableFuture.allOf(lease.onLoss())
            .thenApply(ignored -> LossStageTest.await(unblocked));
    CompletableFuture<LossReason> other = lease.onLoss().thenApply(Function.identity());

    closed.close();

    assertThat(other).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(LossReason.CLOSED);
    assertThat(lease.onLoss()).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(LossReason.CLOSED);
    assertThat(blocked).isNotDone();
    unblocked.countDown();
    assertThat(blocked).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static List<CompletableFuture<?>> dependents(CompletableFuture<LossReason> lost) {
    CompletableFuture<String> done = CompletableFuture.completedFuture("done");
    List<CompletableFuture<?>> all = new ArrayList<>();
    all.add(lost.thenApply(Function.identity()));
    all.add(lost.thenApplyAsync(Function.identity(), Runnable::run));
    all.add(lost.thenAccept(reason -> {}));
    all.add(lost.thenAcceptAsync(reason -> {}, Runnable::run));
    all.add(lost.thenRun(() -> {}));
    all.add(lost.thenRunAsync(() -> {}, Runnable::run));
    all.add(lost.thenCombine(done, (reason, text) -> text));
    all.add(lost.thenCombineAsync(done, (reason, text) -> text, Runnable::run));
    all.add(lost.thenAcceptBoth(done, (reason, text) -> {}));
    all.add(lost.thenAcceptBothAsync(done, (reason, text) -> {}, Runnable::run));
    all.add(lost.runAfterBoth(done, () -> {}));
    all.add(lost.runAfterBothAsync(done, () -> {}, Runnable::run));
    all.add(lost.applyToEither(NEVER, Function.identity()));
    all.add(lost.applyToEitherAsync(NEVER, Function.identity(), Runnable::run));
    all.add(lost.acceptEither(NEVER, reason -> {}));
    all.add(lost.acceptEitherAsync(NEVER, reason -> {}, Runnable::run));
    all.add(lost.runAfterEither(NEVER, () -> {}));
    all.add(lost.runAfterEitherAsync(NEVER, () -> {}, Runnable::run));
    all.add(lost.thenCompose(reason -> done));
    all.add(lost.thenComposeAsync(reason -> done, Runnable::run));
    all.add(lost.handle((reason, failure) -> reason));
    all.add(lost.handleAsync((reason, failure) -> reason, Runnable::run));
    all.add(lost.whenComplete((reason, failure) -> {}));
    all.add(lost.whenCompleteAsync((reason, failure) -> {}, Runnable::run));
    all.add(lost.exceptionally(failure -> LossReason.TAKEN));
    all.add(lost.exceptionallyAsync(failure -> LossReason.TAKEN, Runnable::run));
    all.add(lost.exceptionallyCompose(failure -> lost));
    all.add(lost.exceptionallyComposeAsync(failure -> lost, Runnable::run));
    all.add(done.thenCombine(lost, (text, reason) -> text));
    all.add(NEVER.applyToEither(lost, Function.identity()));
    all.add(CompletableFuture.allOf(lost));
    all.add(lost.minimalCompletionStage().toCompletableFuture());
    return all;
  }
}
