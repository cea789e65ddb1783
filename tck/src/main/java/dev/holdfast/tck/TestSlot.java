package dev.holdfast.tck;

import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckEnvironment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A place for one test at a time.
 *
 * @param environment which the test has for itself
 * @param threads the group of all that the environment and the test start, by which they are
 *     distinguished from those of tests that run at the same time
 */
record TestSlot(TckEnvironment environment, ThreadGroup threads) {
  /** More than containers need whose image has to be fetched first. */
  private static final Duration TO_MAKE = Duration.ofMinutes(10);

  /** Makes an environment in a new group. Rethrows the exception of the supplier. */
  static TestSlot of(Supplier<TckEnvironment> environments) {
    ThreadGroup threads = new ThreadGroup("holdfast-tck");
    FutureTask<TckEnvironment> made = new FutureTask<>(environments::get);
    started(threads, "holdfast-tck-environment", made);
    try {
      return new TestSlot(result(made, TO_MAKE), threads);
    } catch (TimeoutException e) {
      throw new IllegalStateException("no environment was made within " + TO_MAKE, e);
    }
  }

  /** Opens a manager in the group. Rethrows the exception of the environment. */
  LockManager open(Map<String, String> options, Duration limit) {
    FutureTask<LockManager> opening = new FutureTask<>(() -> environment.open(options));
    start("holdfast-tck-open", opening);
    try {
      return result(opening, limit);
    } catch (TimeoutException e) {
      throw new IllegalStateException("no manager was opened within " + limit, e);
    }
  }

  /**
   * Waits for a task. CompletableFuture.join would add threads to JUnit's pool, and with them tests
   * at a time.
   */
  private static <T> T result(FutureTask<T> task, Duration limit) throws TimeoutException {
    try {
      return task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Starts a daemon in the group, with the caller's class loader. */
  Thread start(String name, Runnable task) {
    return started(threads, name, task);
  }

  private static Thread started(ThreadGroup threads, String name, Runnable task) {
    Thread thread = new Thread(threads, task, name);
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
