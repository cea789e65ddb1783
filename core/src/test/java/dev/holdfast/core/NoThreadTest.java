package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that may start no thread any more, as with {@code ulimit -u}. */
@Timeout(20)
class NoThreadTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofMinutes(1));

  private final List<Thread> started = new CopyOnWriteArrayList<>();
  private final AtomicInteger left = new AtomicInteger();

  @Test
  void openingFailsAndLeavesNoThread() {
    List<Thread> before = holdfastThreads();
    assertThatThrownBy(() -> new TimerThreads("holdfast-none", this::make))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("no thread can be started")
        .hasMessageContaining("ulimit -u")
        .hasCauseInstanceOf(OutOfMemoryError.class);
    await().until(() -> before.containsAll(holdfastThreads()));
  }

  @Test
  void openManagerKeepsReportingLossesAndClosesAtOnce() throws Exception {
    left.set(1);
    ScriptedBackend backend = new ScriptedBackend(Clock.system());
    try (Scheduler scheduler = new TimerThreads("holdfast-last", this::make)) {
      LockManager manager = LockManagerBuilder.over(backend).scheduler(scheduler).build();
      Lease lease = manager.tryAcquireAsync(REQUEST).get(10, TimeUnit.SECONDS).orElseThrow();
      assertThat(lease.releaseAsync().get(10, TimeUnit.SECONDS)).isTrue();

      Lease lost = manager.acquire(LockRequest.of("x", Duration.ofMillis(50)));
      CompletableFuture<LossReason> notified = new CompletableFuture<>();
      lost.onLoss().thenAccept(notified::complete);
      assertThat(notified.get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);

      Lease open = manager.acquire(REQUEST);
      long begun = System.nanoTime();
      manager.close();
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
      assertThat(open.onLoss().get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.CLOSED);
    }
    assertThat(started).hasSize(1);
    await().until(() -> started.stream().noneMatch(Thread::isAlive));
  }

  @Test
  void aTaskRunsAlsoWhenAllThreadsHaveEnded() {
    left.set(1);
    CallbackThreads threads = new CallbackThreads(this::make);
    threads.close();
    CountDownLatch ran = new CountDownLatch(1);
    threads.run(ran::countDown);
    assertThat(ran.getCount()).as("on this thread, because there is no other").isZero();
  }

  private Thread make(Runnable task) {
    if (left.getAndDecrement() <= 0) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    Thread thread = CallbackThreads.thread(task);
    started.add(thread);
    return thread;
  }

  private static List<Thread> holdfastThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("holdfast-none"))
        .toList();
  }
}
