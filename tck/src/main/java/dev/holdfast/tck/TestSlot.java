package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckEnvironment;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
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
  private static final System.Logger logger = System.getLogger(TestSlot.class.getName());

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

  /**
   * Returns the capabilities of a manager that is opened in the group. How it closes is for the
   * tests of this to show. Rethrows the exception of the environment.
   */
  Set<LockCapability> capabilities(Map<String, String> options, Duration limit) {
    LockManager manager =
        resultOf("open", () -> environment.open(options), "no manager was opened", limit);
    Set<LockCapability> capabilities =
        resultOf("ask", manager::capabilities, "a manager did not say what it can", limit);
    try {
      resultOf(
          "close",
          Executors.callable((Runnable) manager::close),
          "the manager is not closed",
          limit);
    } catch (RuntimeException | Error e) {
      logger.log(System.Logger.Level.WARNING, "the first manager was not closed", e);
    }
    return capabilities;
  }

  private <T> T resultOf(String name, Callable<T> call, String failure, Duration limit) {
    FutureTask<T> task = new FutureTask<>(call);
    start("holdfast-tck-" + name, task);
    try {
      return result(task, limit);
    } catch (TimeoutException e) {
      throw new IllegalStateException(failure + " within " + limit, e);
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
