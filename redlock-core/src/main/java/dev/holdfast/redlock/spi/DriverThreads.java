package dev.holdfast.redlock.spi;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Threads of drivers, and waiting for them. */
public final class DriverThreads {
  private static final Duration WARM_UP = Duration.ofSeconds(10);

  private DriverThreads() {}

  /**
   * Loads the classes that connecting needs, before the time for connecting runs: on a busy machine
   * loading takes longer than most networks. Waits at most 10 s.
   *
   * @param connecting begins to connect to port 0 of 127.0.0.1, which no server can have, so that
   *     no packet is sent
   */
  public static void warmUp(Supplier<? extends Future<?>> connecting) {
    try {
      await(WARM_UP, connecting.get());
    } catch (RuntimeException e) {
      // a client that was shut down throws this, or its executor: each connecting says so
    }
  }

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
   * @param future the work to wait for, which may also end later
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
