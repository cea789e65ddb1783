package dev.holdfast.tck.rules;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The tasks that end what a test has opened and begun, the latest first. */
final class AtEnd {
  private static final System.Logger logger = System.getLogger(AtEnd.class.getName());

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final Runnable last;
  private boolean over;

  /**
   * Creates an end without tasks.
   *
   * @param last the task that follows the others at each end
   */
  AtEnd(Runnable last) {
    this.last = last;
  }

  /**
   * Adds a task, which is done before the earlier ones.
   *
   * @throws IllegalStateException if the test is over, because it has taken too long
   */
  synchronized void add(Runnable task) {
    if (over) {
      throw new IllegalStateException("the test is over");
    }
    tasks.push(task);
  }

  /** Begins something that a task ends. The test cannot end in between. */
  synchronized void begin(Runnable begin, Runnable end) {
    add(end);
    begin.run();
  }

  /** Ends all, once for good. */
  void close() {
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
    }
    run();
  }

  /**
   * Ends all that was begun so far. A task that fails is logged, because it says nothing of the
   * test's own rule: other tests prove how managers close.
   */
  void run() {
    for (Runnable task : taken()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        logger.log(System.Logger.Level.WARNING, "a task of the test could not be ended", e);
      }
    }
    last.run();
  }

  private synchronized List<Runnable> taken() {
    List<Runnable> taken = List.copyOf(tasks);
    tasks.clear();
    return taken;
  }
}
