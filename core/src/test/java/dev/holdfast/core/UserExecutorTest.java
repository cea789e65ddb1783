package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Callback executors that users really have, and some that break their contract. */
@Timeout(20)
class UserExecutorTest {
  private static final Duration TTL = Duration.ofMinutes(1);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ScriptedBackend backend = new ScriptedBackend(Clock.system());
  private final CountDownLatch free = new CountDownLatch(1);

  @AfterEach
  void release() {
    free.countDown();
  }

  static Stream<Arguments> executors() {
    return Stream.of(
        Arguments.of("refuses", throwing(new IllegalStateException("no"))),
        Arguments.of("fails", throwing(new StackOverflowError("no"))),
        Arguments.of("throws an exception that is not declared", throwing(new Exception("no"))),
        Arguments.of("runs the task itself", (Executor) Runnable::run),
        Arguments.of(
            "takes the task, and throws",
            (Executor)
                task -> {
                  CallbackThreads.thread(task).start();
                  throw new IllegalStateException("no");
                }),
        Arguments.of(
            "runs the task itself, and throws",
            (Executor)
                task -> {
                  task.run();
                  throw new IllegalStateException("no");
                }));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("executors")
  void everyStageCompletesOnceAndNothingIsLeft(String name, Executor executor) throws Exception {
    LockManager manager = LockManagerBuilder.over(backend).callbacks(executor).build();
    Optional<Lease> got = manager.tryAcquireAsync(REQUEST).get(10, TimeUnit.SECONDS);
    Lease lease = got.orElseThrow();
    assertThat(lease.isHeld()).as("it is not taken back by a second run of the task").isTrue();
    assertThat(manager.tryAcquireAsync(REQUEST).get(10, TimeUnit.SECONDS)).isEmpty();
    lease.extendAsync(TTL).get(10, TimeUnit.SECONDS);
    assertThat(lease.releaseAsync().get(10, TimeUnit.SECONDS)).isTrue();
    assertThat(backend.holder("x")).isEmpty();

    List<LossReason> notified = new CopyOnWriteArrayList<>();
    Lease lost = manager.acquire(LockRequest.of("x", Duration.ofMillis(50)));
    CompletableFuture<Void> stage = lost.onLoss().thenAccept(notified::add);
    stage.get(10, TimeUnit.SECONDS);
    long begun = System.nanoTime();
    manager.close();
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
    assertThat(notified).containsExactly(LossReason.EXPIRED);
  }

  @Test
  void userCodeRunsNeitherOnTheReplyingNorOnTheCallingThread() throws Exception {
    LockManager manager = LockManagerBuilder.over(backend).callbacks(Runnable::run).build();
    Thread caller = Thread.currentThread();
    CompletableFuture<Thread> ran = new CompletableFuture<>();
    backend.holdBack(ScriptedBackend.Op.ATTEMPT);
    manager
        .tryAcquireAsync(REQUEST)
        .thenAccept(
            lease -> {
              ran.complete(Thread.currentThread());
              block();
            });
    backend.next().answer(); // blocks this thread forever if it runs users' code
    assertThat(ran.get(10, TimeUnit.SECONDS)).isNotSameAs(caller);
    backend.answerAtOnce(ScriptedBackend.Op.ATTEMPT);

    Lease lease = manager.acquire(LockRequest.of("y", Duration.ofMillis(20)));
    CompletableFuture<Thread> notified = new CompletableFuture<>();
    lease
        .onLoss()
        .thenAccept(
            reason -> {
              notified.complete(Thread.currentThread());
              block();
            });
    while (lease.isHeld()) {
      Thread.onSpinWait();
    }
    assertThat(notified.get(10, TimeUnit.SECONDS)).isNotSameAs(caller);
    free.countDown();
    manager.close();
  }

  @Test
  void blockingExecutorBlocksNoThreadThatReadsReplies() throws Exception {
    LockManager manager =
        LockManagerBuilder.over(backend)
            .callbacks(
                task -> {
                  block();
                  task.run();
                })
            .build();
    CompletableFuture<Optional<Lease>> waits = manager.tryAcquireAsync(REQUEST);
    assertThat(manager.acquire(LockRequest.of("y", TTL)).release()).isTrue();
    assertThat(waits).isNotDone();
    free.countDown();
    assertThat(waits.get(10, TimeUnit.SECONDS)).isPresent();
    manager.close();
  }

  @Test
  void eachStageThatDependsOnALossIsATaskOfItsOwn() throws Exception {
    ManualTime time = new ManualTime();
    LockManager manager =
        LockManagerBuilder.over(new ScriptedBackend(time)).clock(time).scheduler(time).build();
    Lease lease = manager.acquire(REQUEST);
    CompletableFuture<LossReason> notified = new CompletableFuture<>();
    CompletableFuture<LossReason> future = lease.onLoss();
    Runnable block = this::block;
    lease.onLoss().thenRun(block);
    lease.onLoss().thenAccept(notified::complete);
    lease.onLoss().thenRun(block);
    lease.onLoss().thenRunAsync(block, Runnable::run);
    CompletableFuture.anyOf(future, new CompletableFuture<>()).thenRun(block);
    time.advance(TTL);
    assertThat(notified.get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
    free.countDown(); // a thread that waits for a future runs what depends on it
    assertThat(future.get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
    manager.close();
  }

  @Test
  void executeLockedIsInterruptedThoughUsersCallbacksBlockTheWholeExecutor() throws Exception {
    ExecutorService single = Executors.newSingleThreadExecutor(CallbackThreads::thread);
    LockManager manager = LockManagerBuilder.over(backend).callbacks(single).build();
    assertThatThrownBy(
            () ->
                manager.executeLocked(
                    LockRequest.of("x", Duration.ofMillis(100)),
                    lease -> {
                      lease.onLoss().thenRun(this::block);
                      lease.onLoss().thenRunAsync(this::block, Runnable::run);
                      return new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                    }))
        .isInstanceOf(dev.holdfast.LockLostException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    free.countDown();
    single.shutdown();
    manager.close();
  }

  private void block() {
    try {
      free.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Executor throwing(Throwable failure) {
    return task -> UserExecutorTest.<RuntimeException>sneak(failure);
  }

  @SuppressWarnings("unchecked")
  private static <X extends Throwable> void sneak(Throwable failure) throws X {
    throw (X) failure;
  }
}
