package dev.holdfast.redlock.spi;

import org.jspecify.annotations.Nullable;

/** Runs tasks in the executor of a connection, in the order of its writes. */
final class InTurn {
  private InTurn() {}

  /**
   * Runs a task after those before it, or on a thread of its own if the executor takes no more: the
   * calling thread may hold a lock that an answer needs.
   *
   * @param writer the connection's, or null if there was none
   */
  static void run(@Nullable CommandWriter<?> writer, Runnable task) {
    if (writer == null) {
      onNewThread(task);
      return;
    }
    try {
      writer.executor().execute(task);
    } catch (RuntimeException | Error e) {
      onNewThread(task);
    }
  }

  static void onNewThread(Runnable task) {
    try {
      DriverThreads.named("holdfast-connection-end").newThread(task).start();
    } catch (Error noThread) {
      task.run();
    }
  }
}
