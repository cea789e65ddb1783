package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * A place for one test at a time.
 *
 * @param environment which the test has for itself
 * @param threads the group of all that the environment and the test start, by which they are
 *     distinguished from those of tests that run at the same time
 */
record TestSlot(TckEnvironment environment, ThreadGroup threads) {

  /** Makes an environment in a new group. Rethrows the exception of the supplier. */
  static TestSlot of(Supplier<TckEnvironment> environments) {
    ThreadGroup threads = new ThreadGroup("holdfast-tck");
    FutureTask<TckEnvironment> made = new FutureTask<>(environments::get);
    started(threads, "holdfast-tck-environment", made);
    try {
      // CompletableFuture.join would add threads to JUnit's pool, and with them tests at a time
      return new TestSlot(made.get(), threads);
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
