package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The interrupt of one call for the loss of its lease. The calls of a thread form a list, the
 * innermost first, and share the one interrupt status that a thread has.
 *
 * <p>A call that ends with its own loss has hidden every interrupt that came while it ran, because
 * its task sees one interrupt however many leases were lost. So the calls around it whose leases
 * were lost are interrupted again.
 */
final class LossInterrupt {
  private enum State {
    /** The lease was not lost. */
    QUIET,
    /** The lease was lost, and the thread has to be interrupted. */
    DUE,
    /** The thread was interrupted for the loss. */
    INTERRUPTED,
    /** The task has ended. */
    OVER
  }

  /** The interrupt status of a thread, and the lock of all that concerns it. */
  private static final class Status {
    private final Thread thread = Thread.currentThread();

    /** True if a present interrupt status was set for a loss. */
    private boolean isOurs;

    /** The number of interrupts for losses so far, which is the number of the last one. */
    private long count;

    /** The number of the last interrupt that the thread has certainly noticed. */
    private long noticed;

    private void set() {
      if (!thread.isInterrupted()) { // an interrupt of the user stays the user's
        isOurs = true;
        thread.interrupt();
      }
    }

    /** Clears an interrupt status that was set for a loss. Called on the thread. */
    private void clear() {
      if (isOurs) {
        isOurs = false;
        Thread.interrupted();
      }
    }
  }

  private final Lease lease;
  private final @Nullable LossInterrupt outer;
  private final Status status;
  private State state = State.QUIET;

  /** The number of the last interrupt that the thread had noticed when this call began. */
  private final long since;

  /** The number of the interrupt for this call. */
  private long interruptedAt;

  /** The number of inner calls, or this one, with an open shield. */
  private int shields;

  /**
   * Begins with a call, on its thread. Interrupts that the thread has noticed before are over.
   *
   * @param outer that of the call around this one
   */
  LossInterrupt(Lease lease, @Nullable LossInterrupt outer) {
    this.lease = lease;
    this.outer = outer;
    this.status = outer == null ? new Status() : outer.status;
    synchronized (status) {
      if (!status.thread.isInterrupted()) {
        status.isOurs = false;
        status.noticed = status.count;
      }
      since = status.noticed;
    }
  }

  /** Interrupts the thread, now or when the last shield ends. Called on any thread. */
  void onLoss() {
    synchronized (status) {
      if (state != State.OVER) {
        state = State.DUE;
        interruptIfDue();
      }
    }
  }

  private void interruptIfDue() {
    if (state == State.DUE && shields == 0) {
      state = State.INTERRUPTED;
      interruptedAt = ++status.count;
      status.set();
    }
  }

  /**
   * Postpones the interrupts of this call and of those around it until {@link #unshield}. Clears an
   * interrupt that the thread has not noticed. Called on the thread.
   */
  void shield() {
    synchronized (status) {
      boolean isUnnoticed = status.thread.isInterrupted();
      for (LossInterrupt at = this; at != null; at = at.outer) {
        at.shields++;
        if (isUnnoticed && at.isInterruptedAfter(status.noticed)) {
          at.state = State.DUE;
        }
      }
      status.clear();
    }
  }

  /** Ends one shield. Called on the thread. */
  void unshield() {
    synchronized (status) {
      for (LossInterrupt at = this; at != null; at = at.outer) {
        at.shields--;
        at.interruptIfDue();
      }
    }
  }

  /**
   * Ends the interrupts of this call. Clears an interrupt that is for its loss alone. Called on the
   * thread.
   */
  void end() {
    synchronized (status) {
      state = State.OVER;
      boolean isOfCallsAround = false;
      for (LossInterrupt at = outer; at != null; at = at.outer) {
        isOfCallsAround |= at.isInterruptedAfter(status.noticed);
      }
      if (!isOfCallsAround) {
        status.clear();
      }
    }
  }

  /**
   * Makes the interrupts of the calls around this one due again, after the end with a loss. Those
   * of the same lease end, because their loss was seen. Called on the thread.
   */
  void endWithLoss() {
    synchronized (status) {
      for (LossInterrupt at = outer; at != null; at = at.outer) {
        if (at.lease == lease) {
          at.state = State.OVER;
        }
        if (at.isInterruptedAfter(since)) {
          at.state = State.DUE;
        }
      }
      status.clear();
    }
  }

  /** Interrupts the thread again for the calls around this one. Called on the thread. */
  void leave() {
    synchronized (status) {
      for (LossInterrupt at = outer; at != null; at = at.outer) {
        at.interruptIfDue();
      }
    }
  }

  private boolean isInterruptedAfter(long earlier) {
    return state == State.INTERRUPTED && interruptedAt > earlier;
  }
}
