package dev.holdfast.redlock.spi;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads of drivers, and waiting for them. */
public final class DriverThreads {
  private DriverThreads() {}

  /**
   * Makes daemons, so that a JVM can exit, with a name that an operator knows.
   *
   * @param name the name, which begins with {@code holdfast-} and the driver's name
   * @return makes threads that are not started
   */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Waits for a future whose result does not matter here. Returns when it is done, however it
   * ended, or at the limit. An interrupt does not shorten the wait, because a thread that was
   * interrupted closes a manager as well, and its releases are still to be sent. The thread stays
   * interrupted.
   *
   * @param limit how long to wait
   * @param future what is better done first, but need not be
   */
  public static void await(Duration limit, Future<?> future) {
    long end = System.nanoTime() + limit.toNanos();
    boolean interrupted = false;
    for (boolean waits = true; waits; ) {
      waits = false;
      try {
        future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException | TimeoutException e) {
        // the result is looked for elsewhere, if it is needed
      } catch (InterruptedException e) {
        interrupted = true;
        waits = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
