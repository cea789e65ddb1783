package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads for tasks that may block, as many as are needed. One of them is started at once,
 * and runs the tasks for which no other thread can be started.
 */
final class CallbackThreads {
  private static final long IDLE_SECONDS = 5;
  private static final String NAME = "holdfast-callback";

  private final ThreadFactory factory;
  private final ThreadPoolExecutor threads;
  private final ThreadPoolExecutor spare;

  /**
   * Starts the spare thread.
   *
   * @param factory makes all threads
   * @throws LockConfigurationException if no thread can be started
   */
  CallbackThreads(ThreadFactory factory) {
    this.factory = factory;
    // without a bound, because a task may block and none may wait for another
    this.threads = pool(0, Integer.MAX_VALUE, new SynchronousQueue<>(), factory);
    this.spare = pool(1, 1, new LinkedBlockingQueue<>(), factory);
    prestart(spare);
  }

  /** Makes daemon threads with the name of callbacks. */
  static Thread thread(Runnable task) {
    return daemon(task, NAME);
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Starts the first thread of a pool, so that a process at its limits fails here. */
  static void prestart(ThreadPoolExecutor pool) {
    try {
      pool.prestartCoreThread();
    } catch (OutOfMemoryError e) { // the JDK's only word for "unable to create native thread"
      pool.shutdown();
      throw new LockConfigurationException(
          "no thread can be started: "
              + e.getMessage()
              + "; raise the limit on threads (ulimit -u, pids.max of the container)",
          e);
    }
  }

  /** Runs a task on a thread that no other task waits for, if one can be started. Never throws. */
  void run(Runnable task) {
    try {
      threads.execute(task);
    } catch (RejectedExecutionException closed) {
      runOnNewThread(task);
    } catch (OutOfMemoryError noThread) {
      runOnSpareThread(task);
    }
  }

  /** Starts no task any more on threads that end late. */
  void close() {
    threads.shutdown();
    spare.shutdown();
  }

  private void runOnNewThread(Runnable task) {
    try {
      factory.newThread(task).start();
    } catch (OutOfMemoryError noThread) {
      runOnSpareThread(task);
    }
  }

  private void runOnSpareThread(Runnable task) {
    try {
      spare.execute(task);
    } catch (RejectedExecutionException closed) {
      task.run(); // no thread is left: late is better than never
    }
  }

  private static ThreadPoolExecutor pool(
      int core, int most, BlockingQueue<Runnable> queue, ThreadFactory factory) {
    return new ThreadPoolExecutor(core, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, factory);
  }
}
