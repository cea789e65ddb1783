package dev.holdfast.core;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * Reports to listeners how many requests wait and how many operations are in flight. One thread
 * reports at a time, and the last report has the present numbers. Safe for use by many threads.
 */
final class LoadEvents {
  private final Listeners listeners;
  private final IntSupplier inFlight;
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger changes = new AtomicInteger();

  LoadEvents(Listeners listeners, IntSupplier inFlight) {
    this.listeners = listeners;
    this.inFlight = inFlight;
  }

  /** Counts a request that is reported to listeners. */
  void onRequested() {
    waiting.incrementAndGet();
    onChanged();
  }

  /** Counts the result of such a request. */
  void onResult() {
    waiting.decrementAndGet();
    onChanged();
  }

  /** Reports the present numbers, unless they are the zeros that a listener begins with. */
  void onListenerAdded() {
    if (waiting.get() != 0 || inFlight.getAsInt() != 0) {
      onChanged();
    }
  }

  /** Reports the present numbers. Changes that come meanwhile are a loop, not a deep stack. */
  void onChanged() {
    if (listeners.isEmpty() || changes.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = changes.get();
      int waitingNow = waiting.get();
      int inFlightNow = inFlight.getAsInt();
      listeners.report(listener -> listener.onLoad(waitingNow, inFlightNow));
    } while (changes.addAndGet(-seen) > 0);
  }
}
