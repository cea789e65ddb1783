package dev.holdfast.redlock.redisson;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting for what is better over, but need not be. */
final class Waiting {
  private Waiting() {}

  /** Returns when it is over, however it ended, at the limit, or when interrupted. */
  static void atMost(long seconds, Future<?> future) {
    try {
      future.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // whoever needs the outcome looks for it elsewhere
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
