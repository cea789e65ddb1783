package dev.holdfast.core;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs asynchronous tasks one after the other: a task starts when the one before it has completed.
 * An idle executor keeps no task. Safe for use by many threads.
 */
final class SerialExecutor {
  private final AtomicReference<@Nullable Task> last = new AtomicReference<>();

  /** Made for the first task: most leases are never extended. */
  private @Nullable Starts starts;

  /** One task that is running or waits for the one before it. */
  private static final class Task {
    private final CompletableFuture<Void> result = new CompletableFuture<>();
    private final Consumer<CompletableFuture<Void>> work;
    private volatile @Nullable Task before;

    Task(Consumer<CompletableFuture<Void>> work) {
      this.work = work;
    }

    void run() {
      try {
        work.accept(result);
      } catch (RuntimeException | Error e) {
        result.completeExceptionally(e); // else the tasks behind it would never start
      }
    }
  }

  /** Starts tasks whose turn it is. Tasks that end at once are a loop, not a deep stack. */
  private static final class Starts {
    /** One, or none, unless the end of the executor fails all tasks. */
    private final Queue<Task> ready = new ConcurrentLinkedQueue<>();

    private final AtomicInteger count = new AtomicInteger();

    void start(Task next) {
      ready.add(next);
      if (count.getAndIncrement() == 0) {
        do {
          Objects.requireNonNull(ready.poll()).run();
        } while (count.decrementAndGet() > 0);
      }
    }
  }

  /**
   * Queues a task.
   *
   * @param task is given the future that it must complete, and runs on the thread that completes
   *     the task before it, or on the one that has started that task and is about to return from it
   * @return the same future
   */
  CompletableFuture<Void> execute(Consumer<CompletableFuture<Void>> task) {
    Task mine = new Task(task);
    do {
      mine.before = last.get();
    } while (!last.compareAndSet(mine.before, mine));
    Task before = mine.before;
    CompletableFuture<Void> turn =
        before == null ? CompletableFuture.completedFuture(null) : before.result;
    turn.whenComplete(
        (done, failure) -> {
          mine.before = null;
          starts().start(mine);
        });
    mine.result.whenComplete((done, failure) -> last.compareAndSet(mine, null));
    return mine.result;
  }

  private synchronized Starts starts() {
    if (starts == null) {
      starts = new Starts();
    }
    return starts;
  }

  /** Returns whether no task is running or queued. */
  boolean isIdle() {
    return last.get() == null;
  }

  /**
   * Fails each task with a failure of its own, the last first, so that none starts because the one
   * before it ended.
   */
  void failAll(Supplier<? extends Throwable> failure) {
    Task task = last.get();
    while (task != null) {
      Task before = task.before;
      task.result.completeExceptionally(failure.get());
      task = before;
    }
  }
}
