package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Waits for conditions, up to a limit. */
final class Eventually {
  /** Each look costs a thread a switch, and a hundred tests look at the same time. */
  private static final long POLL_NANOS = 5_000_000;

  /** When nothing has changed for so long, nothing will. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  private final Duration limit;

  private Eventually(Duration limit) {
    this.limit = limit;
  }

  static Eventually within(Duration limit) {
    return new Eventually(limit);
  }

  /** Work that may throw anything. */
  interface Assertions {
    void run() throws Exception;
  }

  /** Returns once this is so. */
  void until(String what, Callable<Boolean> condition) {
    long end = System.nanoTime() + limit.toNanos();
    try {
      while (!condition.call()) {
        if (System.nanoTime() - end > 0) {
          throw new AssertionError("in " + limit + " it was never seen that " + what);
        }
        pause();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted before it was seen that " + what, e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Returns once all have come, or no more come: that they do is another rule's. */
  void untilNoMoreCome(LongSupplier come, int all) {
    AtomicLong last = new AtomicLong();
    AtomicLong changed = new AtomicLong(System.nanoTime());
    until(
        "all had come, or no more came",
        () -> {
          long now = come.getAsLong();
          if (last.getAndSet(now) != now) {
            changed.set(System.nanoTime());
          }
          return now == all || Elapsed.since(changed.get()).compareTo(QUIET) > 0;
        });
  }

  /** Returns once these hold, and throws what the last of them threw if they never do. */
  void untilAsserted(Assertions assertions) {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      try {
        assertions.run();
        return;
      } catch (AssertionError e) {
        if (System.nanoTime() - end > 0) {
          throw e;
        }
      } catch (RuntimeException e) {
        throw e;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      } catch (Exception e) {
        throw new AssertionError(e);
      }
      pause();
    }
  }

  /** Returns the value of a stage. An exceptional end is thrown as an assertion that failed. */
  <T> T get(String what, CompletableFuture<T> stage) {
    try {
      return stage.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("in " + limit + " it was never seen that " + what, e);
    } catch (ExecutionException e) {
      throw new AssertionError(what + ", but it ended by " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted before it was seen that " + what, e);
    }
  }

  /** Waits until it is interrupted, and returns whether it was within the limit. */
  boolean endsByInterrupt() {
    try {
      new CountDownLatch(1).await(limit.toNanos(), TimeUnit.NANOSECONDS);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  private static void pause() {
    LockSupport.parkNanos(POLL_NANOS);
    if (Thread.currentThread().isInterrupted()) {
      throw new AssertionError("interrupted");
    }
  }
}
