package dev.holdfast.legacy.setnx;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that follow one another: each begins when the one before it has ended, which may be long
 * after its caller has gone. One thread does them all, so that none is lost between two.
 */
final class SerialTasks {
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private boolean busy;

  /**
   * Has a task run after those before it.
   *
   * @param task must not throw
   * @param executor runs it. If that refuses, nothing has changed
   */
  synchronized void add(Runnable task, Executor executor) {
    if (busy) {
      waiting.add(task);
      return;
    }
    executor.execute(() -> run(task));
    busy = true;
  }

  private void run(Runnable first) {
    for (Runnable task = first; task != null; task = next()) {
      task.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable task = waiting.poll();
    busy = task != null;
    return task;
  }
}
