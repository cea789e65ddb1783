package dev.holdfast.core;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Where users' code runs unless they say otherwise. */
final class CallbackThreads {
  private static final long IDLE_SECONDS = 5;

  private CallbackThreads() {}

  /** Without a bound, because a callback may block and none may wait for another. */
  static ThreadPoolExecutor executor() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        CallbackThreads::thread);
  }

  static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "holdfast-callback");
    thread.setDaemon(true);
    return thread;
  }
}
