package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.with;

import dev.holdfast.LockManager;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class TimerThreadTest {
  @AutoClose private final Scheduler scheduler = Scheduler.create("holdfast-test-timer");

  @Test
  void tasksRunOnOneDaemonThreadOfTheNameGiven() throws Exception {
    CompletableFuture<Thread> first = new CompletableFuture<>();
    CompletableFuture<Thread> second = new CompletableFuture<>();
    scheduler.schedule(0, () -> first.complete(Thread.currentThread()));
    scheduler.schedule(-5, () -> second.complete(Thread.currentThread()));
    assertThat(first.get(10, TimeUnit.SECONDS).getName()).isEqualTo("holdfast-test-timer");
    assertThat(first.get().isDaemon()).isTrue();
    assertThat(second.get(10, TimeUnit.SECONDS)).isSameAs(first.get());
  }

  @Test
  void aTaskRunsNotBeforeItsTime() throws Exception {
    long begun = System.nanoTime();
    CompletableFuture<Long> ran = new CompletableFuture<>();
    scheduler.schedule(
        Duration.ofMillis(20).toNanos(), () -> ran.complete(System.nanoTime() - begun));
    assertThat(ran.get(10, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(20_000_000L);
  }

  @Test
  void tasksRunInTheOrderOfTheirTimes() throws Exception {
    List<Integer> ran = new CopyOnWriteArrayList<>();
    CompletableFuture<Integer> last = new CompletableFuture<>();
    long step = Duration.ofMillis(100).toNanos();
    long soon = System.nanoTime() + 2 * step;
    scheduler.schedule(soon + 3 * step - System.nanoTime(), () -> last.complete(4));
    scheduler.schedule(soon + 2 * step - System.nanoTime(), () -> ran.add(3));
    scheduler.schedule(soon + step - System.nanoTime(), () -> ran.add(2));
    scheduler.schedule(soon - System.nanoTime(), () -> ran.add(1));
    assertThat(last.get(10, TimeUnit.SECONDS)).isEqualTo(4);
    assertThat(ran).containsExactly(1, 2, 3);
  }

  @Test
  void cancelledTaskIsNotRetainedUntilItsTime() throws Exception {
    List<Scheduler.Task> tasks = new ArrayList<>();
    List<WeakReference<Object>> kept = List.of(scheduleInAnHour(tasks), scheduleInAnHour(tasks));
    tasks.remove(0).cancel();
    CompletableFuture<Integer> later = new CompletableFuture<>();
    scheduler.schedule(Duration.ofMillis(50).toNanos(), () -> later.complete(1));
    later.get(10, TimeUnit.SECONDS);
    tasks.remove(0).cancel();
    with()
        .pollInterval(Duration.ofMillis(10))
        .await()
        .until(
            () -> {
              System.gc();
              return kept.stream().allMatch(object -> object.get() == null);
            });
  }

  private WeakReference<Object> scheduleInAnHour(List<Scheduler.Task> tasks) {
    Object object = new Object();
    tasks.add(scheduler.schedule(Duration.ofHours(1).toNanos(), keeping(object)));
    return new WeakReference<>(object);
  }

  private static Runnable keeping(Object object) {
    return () -> assertThat(object).isNotNull();
  }

  @Test
  void cancelledTaskDoesNotRun() throws Exception {
    List<Integer> ran = new CopyOnWriteArrayList<>();
    CountDownLatch busy = new CountDownLatch(1);
    scheduler.schedule(0, () -> await(busy));
    scheduler.schedule(0, () -> ran.add(1)).cancel();
    CompletableFuture<Integer> last = new CompletableFuture<>();
    scheduler.schedule(0, () -> last.complete(2));
    busy.countDown();
    last.get(10, TimeUnit.SECONDS);
    assertThat(ran).isEmpty();
  }

  @Test
  void aTaskThatThrowsIsLoggedAndStopsNoOther() throws Exception {
    CompletableFuture<Integer> after = new CompletableFuture<>();
    try (Warnings warnings = Warnings.of(LockManager.class)) {
      scheduler.schedule(
          0,
          () -> {
            throw new AssertionError("a fault of the task's");
          });
      scheduler.schedule(0, () -> after.complete(1));
      assertThat(after.get(10, TimeUnit.SECONDS)).isOne();
      assertThat(warnings.texts()).singleElement().asString().contains("task failed");
    }
  }

  @Test
  void closedSchedulerAcceptsTasksAndRunsNone() throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    List<Integer> ran = new CopyOnWriteArrayList<>();
    scheduler.schedule(Duration.ofHours(1).toNanos(), () -> ran.add(1));
    scheduler.schedule(0, () -> thread.complete(Thread.currentThread()));
    Thread timer = thread.get(10, TimeUnit.SECONDS);
    scheduler.close();
    scheduler.schedule(0, () -> ran.add(2)).cancel();
    timer.join(10_000);
    assertThat(timer.isAlive()).isFalse();
    assertThat(ran).isEmpty();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
