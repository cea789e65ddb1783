package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Users' callbacks run on threads that nothing else waits for. */
class CallbacksTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "the-users-own");
            thread.setDaemon(true);
            return thread;
          });

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  @Test
  void everyStageCompletesOnTheCallbackExecutor() throws Exception {
    LockManager manager = ScriptedBackend.manager(backend, time).callbacks(executor).build();
    assertThat(threadOf(done -> manager.tryAcquireAsync(REQUEST).thenAccept(done)))
        .isEqualTo("the-users-own");
    assertThat(threadOf(done -> manager.tryAcquireAsync(REQUEST).thenAccept(done)))
        .as("a refusal")
        .isEqualTo("the-users-own");

    Lease lease = manager.acquire(LockRequest.of("y", TTL));
    assertThat(threadOf(done -> lease.extendAsync(TTL).thenAccept(done)))
        .isEqualTo("the-users-own");
    assertThat(threadOf(done -> lease.extendAsync(Duration.ofHours(1)).exceptionally(sink(done))))
        .as("a refused extension")
        .isEqualTo("the-users-own");
    assertThat(threadOf(done -> lease.releaseAsync().thenAccept(done))).isEqualTo("the-users-own");

    Lease lost = manager.acquire(LockRequest.of("y", TTL));
    assertThat(
            threadOf(
                done -> {
                  lost.onLoss().thenAccept(done);
                  time.advance(TTL);
                }))
        .isEqualTo("the-users-own");

    manager.close();
    assertThat(threadOf(done -> manager.tryAcquireAsync(REQUEST).exceptionally(sink(done))))
        .as("a failure")
        .isEqualTo("the-users-own");
  }

  @Test
  void callbacksThatBlockDelayNoOtherLease() throws Exception {
    LockManager manager =
        LockManagerBuilder.over(backend).clock(time).scheduler(time).ownerLabel("tester").build();
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(3);
    Consumer<Object> blocks =
        value -> {
          blocked.countDown();
          try {
            never.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    manager.acquire(LockRequest.of("a", Duration.ofSeconds(1))).onLoss().thenAccept(blocks);
    Lease released = manager.acquire(LockRequest.of("b", TTL));
    backend.holdBack(Op.RELEASE);
    released.releaseAsync().thenAccept(blocks);
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(LockRequest.of("c", TTL)).thenAccept(blocks);
    backend.next().answer();
    backend.next().answer();
    backend.answerAtOnce(Op.RELEASE);
    backend.answerAtOnce(Op.ATTEMPT);
    Lease kept = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofMinutes(1)));
    time.advance(Duration.ofSeconds(45));
    assertThat(blocked.await(10, TimeUnit.SECONDS)).isTrue();

    assertThat(kept.isHeld()).isTrue();
    assertThat(backend.calls(Op.EXTEND)).hasSize(4);
    CompletableFuture<LossReason> lost = kept.onLoss();
    CompletableFuture<Optional<Lease>> next =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofMinutes(1)));
    time.advance(Duration.ofSeconds(15));
    assertThat(lost.get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.MAX_HOLD);
    assertThat(next.get(10, TimeUnit.SECONDS)).isPresent();
    never.countDown();
    manager.close();
  }

  @Test
  void callbackThreadsOfTheManagerAreNamedDaemons() throws Exception {
    LockManager manager = LockManagerBuilder.over(backend).clock(time).scheduler(time).build();
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    manager
        .tryAcquireAsync(REQUEST)
        .thenAccept(lease -> thread.complete(Thread.currentThread()))
        .get(10, TimeUnit.SECONDS);
    CompletableFuture<Thread> lossThread = new CompletableFuture<>();
    manager
        .acquire(LockRequest.of("y", TTL))
        .onLoss()
        .thenAccept(reason -> lossThread.complete(Thread.currentThread()));
    time.advance(TTL);
    assertThat(lossThread.get(10, TimeUnit.SECONDS))
        .satisfies(t -> assertThat(t.getName()).startsWith("holdfast-"))
        .satisfies(t -> assertThat(t.isDaemon()).isTrue());
    manager.close();
  }

  @Test
  void rejectedCallbacksRunOnADaemonThreadOfTheManager() throws Exception {
    LockManager manager =
        LockManagerBuilder.over(backend).clock(time).scheduler(time).callbacks(executor).build();
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    manager.acquire(REQUEST).onLoss().thenAccept(reason -> thread.complete(Thread.currentThread()));
    executor.shutdown();
    time.advance(TTL);
    assertThat(thread.get(10, TimeUnit.SECONDS))
        .satisfies(t -> assertThat(t.getName()).isEqualTo("holdfast-callback"))
        .satisfies(t -> assertThat(t.isDaemon()).isTrue());
    assertThat(manager.tryAcquireAsync(REQUEST).get(10, TimeUnit.SECONDS)).isPresent();
  }

  @Test
  void theCallersExecutorIsNotShutDown() throws Exception {
    LockManager manager = ScriptedBackend.manager(backend, time).callbacks(executor).build();
    manager.close();
    Future<Integer> later = executor.submit(() -> 1);
    assertThat(later.get(10, TimeUnit.SECONDS)).isOne();
  }

  private interface Dependent {
    void dependOn(Consumer<Object> done) throws Exception;
  }

  /** The thread on which a dependent stage ran that was there before its cause. */
  private String threadOf(Dependent dependent) throws Exception {
    CompletableFuture<String> name = new CompletableFuture<>();
    CountDownLatch ready = new CountDownLatch(1);
    Future<?> busy = executor.submit(() -> ready.await(10, TimeUnit.SECONDS));
    dependent.dependOn(value -> name.complete(Thread.currentThread().getName()));
    assertThat(name).as("nobody runs it but the executor, which is busy").isNotDone();
    ready.countDown();
    busy.get(10, TimeUnit.SECONDS);
    return name.get(10, TimeUnit.SECONDS);
  }

  private static <T> Function<Throwable, T> sink(Consumer<Object> done) {
    return failure -> {
      done.accept(failure);
      throw new IllegalStateException(failure);
    };
  }
}
