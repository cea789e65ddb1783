package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LockListener.Registration;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of one manager. Without a listener a caller pays two volatile reads: of the
 * listeners and of the flight recorder. Safe for use by many threads.
 */
final class Listeners {
  private static final Logger LOG = System.getLogger(LockListener.class.getName());

  /** The longest call that is not logged. Metrics take less than a microsecond. */
  private static final long SLOW_NANOS = 20_000_000;

  /** Set while a thread runs a listener. */
  private static final ThreadLocal<Boolean> INSIDE = new ThreadLocal<>();

  /** True if a listener was ever added to any manager. */
  private static volatile boolean isUsed;

  private final Clock clock;
  private final AtomicLong lastLeaseId = new AtomicLong();
  private volatile Audience all = new Audience(List.of());

  Listeners(Clock clock) {
    this.clock = clock;
  }

  /** Returns whether there is a listener. Callers ask this before any work for listeners. */
  boolean isEmpty() {
    return all.listeners().isEmpty();
  }

  /** Returns whether a request that begins now is reported: to a listener or to the recorder. */
  boolean isActive() {
    return !isEmpty() || Flight.RECORDER.isActive();
  }

  synchronized Registration add(LockListener listener) {
    isUsed = true;
    Listening added = new Listening(listener);
    List<Listening> after = new ArrayList<>(all.listeners());
    after.add(added);
    all = new Audience(List.copyOf(after));
    return added;
  }

  private synchronized void remove(Listening listening) {
    all = new Audience(all.listeners().stream().filter(each -> each != listening).toList());
  }

  /** Calls each listener, on this thread. Never throws. */
  void report(Consumer<LockListener> event) {
    all.report(event);
  }

  /** Returns the present listeners. */
  Audience audience() {
    return all;
  }

  /** The listeners at one time. */
  record Audience(List<Listening> listeners) {
    /** Calls each listener that was not removed since, on this thread. Never throws. */
    void report(Consumer<LockListener> event) {
      listeners.forEach(listening -> listening.call(event));
    }
  }

  /** Returns the number of a new lease. */
  long nextLeaseId() {
    return lastLeaseId.incrementAndGet();
  }

  long nanos() {
    return clock.nanos();
  }

  /**
   * Refuses a call that blocks, on a thread that runs a listener.
   *
   * @param call the method, for the message
   * @throws IllegalStateException saying what to do
   */
  static void requireOutside(String call) {
    if (isUsed && isInside()) {
      throw new IllegalStateException(
          call
              + " was called by a LockListener, which must return at once: call it on a thread of"
              + " your own");
    }
  }

  /** Returns whether this thread runs a listener. */
  static boolean isInside() {
    return INSIDE.get() != null;
  }

  /** Logs a warning. Drops what the user's logger throws, as what a listener throws. */
  static void warn(String message, @Nullable Throwable failure) {
    try {
      LOG.log(Level.WARNING, message, failure);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken, and there is no other place to report to
    }
  }

  /** One listener, from its addition to its end. */
  final class Listening implements Registration {
    private final LockListener listener;
    private final AtomicBoolean hasThrown = new AtomicBoolean();
    private final OnceAMinute slowCalls = new OnceAMinute();
    private volatile boolean isClosed;

    Listening(LockListener listener) {
      this.listener = listener;
    }

    @Override
    public void close() {
      isClosed = true;
      remove(this);
    }

    void call(Consumer<LockListener> event) {
      if (isClosed) {
        return;
      }
      Boolean outer = INSIDE.get();
      INSIDE.set(true);
      try {
        callTimed(event);
      } catch (Throwable e) { // also checked exceptions, which not every language declares
        onThrown(e);
      } finally {
        if (outer == null) {
          INSIDE.remove();
        }
      }
    }

    private void callTimed(Consumer<LockListener> event) {
      long begunAt = clock.nanos();
      try {
        event.accept(listener);
      } finally { // a call that throws has held up its caller, too
        onEnded(clock.nanos(), begunAt);
      }
    }

    private void onThrown(Throwable failure) {
      if (hasThrown.compareAndSet(false, true)) {
        warn(
            "a LockListener, "
                + listener.getClass().getName()
                + ", failed: this and all further failures of it are dropped; correct it",
            failure);
      }
    }

    private void onEnded(long now, long begunAt) {
      if (now - begunAt > SLOW_NANOS && slowCalls.tryLog(now)) {
        warn(
            "a LockListener, "
                + listener.getClass().getName()
                + ", took "
                + (now - begunAt) / 1_000_000
                + " ms: renewals and waiters wait for it; return at once, and work on another"
                + " thread",
            null);
      }
    }
  }
}
