package dev.holdfast;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A lease that is bound to the thread that works under it. The bound leases of a thread form a
 * list, the innermost first. A thread that another thread starts begins without any.
 */
final class BoundLease {
  @SuppressWarnings("ThreadLocalUsage") // a binding belongs to the thread, not to a caller
  private static final ThreadLocal<@Nullable BoundLease> INNERMOST = new ThreadLocal<>();

  private final @Nullable LockManager manager;
  private final Lease lease;
  private final LossInterrupt interrupt;
  private final @Nullable BoundLease outer;

  /** The number of open shields that were opened while this was the innermost. */
  private int shields;

  private boolean isOver;

  private BoundLease(@Nullable LockManager manager, Lease lease, @Nullable BoundLease outer) {
    this.manager = manager;
    this.lease = lease;
    this.interrupt = new LossInterrupt(lease, outer == null ? null : outer.interrupt);
    this.outer = outer;
  }

  /**
   * Binds a lease to this thread.
   *
   * @param manager the manager of the lease, or null if it is not known
   */
  static BoundLease bind(@Nullable LockManager manager, Lease lease) {
    BoundLease bound = new BoundLease(manager, lease, INNERMOST.get());
    INNERMOST.set(bound);
    return bound;
  }

  /** Returns the interrupt of this thread for the loss of the lease. */
  LossInterrupt interrupt() {
    return interrupt;
  }

  /**
   * Ends the binding, those that were begun inside of it, and its shields. Interrupts for the calls
   * around this one come now.
   */
  void unbind() {
    isOver = true;
    if (shields > 0) {
      interrupt.unshield();
    }
    interrupt.leave();
    if (outer == null) {
      INNERMOST.remove();
    } else {
      INNERMOST.set(outer);
    }
  }

  /** Postpones the interrupts of all calls of this thread until the shield is closed. */
  static Locks.InterruptShield shield() {
    BoundLease innermost = INNERMOST.get();
    if (innermost == null) {
      return () -> {};
    }
    if (innermost.shields++ == 0) {
      innermost.interrupt.shield();
    }
    Thread owner = Thread.currentThread();
    AtomicBoolean isOpen = new AtomicBoolean(true);
    return () -> {
      if (Thread.currentThread() == owner && isOpen.getAndSet(false)) {
        innermost.close();
      }
    };
  }

  private void close() {
    if (!isOver && --shields == 0) {
      interrupt.unshield();
    }
  }

  /**
   * Checks the leases of this thread from the innermost outward.
   *
   * @throws LockLostException if one was lost
   */
  static void requireNoneLost() {
    for (BoundLease at = INNERMOST.get(); at != null; at = at.outer) {
      try {
        at.lease.requireHeld();
      } catch (LockLostException lost) {
        throw lost;
      } catch (IllegalStateException released) {
        // protects nothing any more, by the will of its holder
      }
    }
  }

  static Optional<Lease> current() {
    BoundLease innermost = INNERMOST.get();
    return innermost == null ? Optional.empty() : Optional.of(innermost.lease);
  }

  /**
   * Searches the leases of this thread from the innermost outward.
   *
   * @param asked the manager of the lease, or null for any
   * @throws IllegalStateException if there is none of this name
   */
  static Lease find(@Nullable LockManager asked, String name) {
    boolean isOfUnknownManager = false;
    for (BoundLease at = INNERMOST.get(); at != null; at = at.outer) {
      if (at.lease.name().equals(name)) {
        if (asked == null || isSame(asked, at.manager)) {
          return at.lease;
        }
        isOfUnknownManager |= at.manager == null;
      }
    }
    throw new IllegalStateException(
        "this thread does not work under the lock '"
            + name
            + (isOfUnknownManager
                ? "' of this manager: the manager of its lease is not known; give it to"
                    + " Locks.executeHolding, too"
                : "'"
                    + (asked == null ? "" : " of this manager")
                    + ": call this method from the task of executeLocked, on the same thread"));
  }

  /** Compares managers without their decorators. */
  private static boolean isSame(LockManager asked, @Nullable LockManager bound) {
    return bound != null && (asked == bound || undecorated(asked) == undecorated(bound));
  }

  private static LockManager undecorated(LockManager manager) {
    return manager.unwrap(LockManager.class).orElse(manager);
  }
}
