package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * A place for one test at a time.
 *
 * @param environment which the test has for itself
 * @param threads the group of all that the environment and the test start, by which they are
 *     distinguished from those of tests that run at the same time
 */
record TestSlot(TckEnvironment environment, ThreadGroup threads) {

  /** Makes an environment, in a new group; throws what that throws. */
  static TestSlot of(Supplier<TckEnvironment> environments) {
    ThreadGroup threads = new ThreadGroup("holdfast-tck");
    CompletableFuture<TckEnvironment> made = new CompletableFuture<>();
    started(
        threads, "holdfast-tck-environment", () -> made.completeAsync(environments, Runnable::run));
    try {
      return new TestSlot(made.join(), threads);
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
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
