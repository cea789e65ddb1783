package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A call on a thread of its own, with its result and its duration. */
final class Call<T> {
  private final Thread thread;
  private volatile @Nullable T result;
  private volatile @Nullable Throwable thrown;
  private volatile Duration took = Duration.ZERO;
  private volatile boolean over;

  private Call(Callable<T> call) {
    thread =
        new Thread(
            () -> {
              long begun = System.nanoTime();
              try {
                result = call.call();
              } catch (Throwable t) {
                thrown = t;
              }
              took = Duration.ofNanos(System.nanoTime() - begun);
              over = true;
            },
            "call");
    thread.setDaemon(true);
  }

  static <T> Call<T> begin(Callable<T> call) {
    Call<T> begun = new Call<>(call);
    begun.thread.start();
    return begun;
  }

  boolean isOver() {
    return over;
  }

  boolean isWaiting() {
    return isWaiting(thread) && !over;
  }

  /** Returns whether it goes no further without others: it waits, or is over. */
  boolean isWaitingOrOver() {
    return isWaiting() || isOver();
  }

  static boolean isWaiting(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Returns the result, or empty if the call is not over or threw an exception. */
  Optional<T> result() {
    return Optional.ofNullable(result);
  }

  /** Returns the exception, or empty if the call is not over or returned. */
  Optional<Throwable> thrown() {
    return Optional.ofNullable(thrown);
  }

  /** Returns the time that the call took, or zero if it is not over. */
  Duration took() {
    return took;
  }

  /** Waits until it is over. */
  Call<T> awaited(TckFixture fixture) {
    fixture.soon().until("a call was over", this::isOver);
    return this;
  }

  @Override
  public String toString() {
    return over
        ? "over after " + took + " with " + (thrown == null ? result : thrown)
        : "in flight";
  }
}
