package dev.holdfast.tck.broken;

import java.util.concurrent.Executor;

/** Runs each task on a new thread, because a test blocks the JDK's common pool. */
final class NewThreads {
  static final Executor EXECUTOR =
      task -> {
        Thread thread = new Thread(task, "later");
        thread.setDaemon(true);
        thread.start();
      };

  private NewThreads() {}
}
