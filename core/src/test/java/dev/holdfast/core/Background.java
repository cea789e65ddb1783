package dev.holdfast.core;

import static org.awaitility.Awaitility.with;

import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A blocking call on a thread of its own. */
final class Background<T> {
  private final FutureTask<T> task;
  private final Thread thread;
  private volatile boolean interruptedAtEnd;

  private Background(Callable<T> call) {
    task =
        new FutureTask<>(
            () -> {
              try {
                return call.call();
              } finally {
                interruptedAtEnd = Thread.currentThread().isInterrupted();
              }
            });
    thread = new Thread(task, "background");
    thread.setDaemon(true);
  }

  static <T> Background<T> run(Callable<T> call) {
    Background<T> background = new Background<>(call);
    background.thread.start();
    return background;
  }

  /** Closes a manager. The result is true. */
  static Background<Boolean> closing(LockManager manager) {
    return run(
        () -> {
          manager.close();
          return true;
        });
  }

  /** Returns when the thread waits for something. */
  Background<T> awaitBlocked() {
    return awaitState(EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING));
  }

  /** Returns when the thread waits for a monitor. */
  Background<T> awaitBlockedByMonitor() {
    return awaitState(EnumSet.of(Thread.State.BLOCKED));
  }

  private Background<T> awaitState(Set<Thread.State> states) {
    with()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .await()
        .until(() -> states.contains(thread.getState()));
    return this;
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean isDone() {
    return task.isDone();
  }

  T result() throws Exception {
    return task.get(10, TimeUnit.SECONDS);
  }

  /** Returns what the call threw. */
  Throwable failure() throws Exception {
    try {
      throw new AssertionError("it did not fail but returned " + result());
    } catch (ExecutionException e) {
      return Futures.cause(e);
    }
  }

  /** Whether the thread's interrupt flag was set when the call had ended. */
  boolean interruptedAtEnd() {
    return interruptedAtEnd;
  }
}
