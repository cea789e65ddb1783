package dev.holdfast;

import java.util.Optional;

/** The manager below a decorator that knows nothing of a method that was added to the interface. */
final class Decorated {
  private Decorated() {}

  /**
   * Returns the manager that a decorator passes its calls to.
   *
   * @param missing the method that the decorator lacks, for the message
   * @throws LockConfigurationException if there is none
   */
  static LockManager below(LockManager decorator, String missing) {
    return find(decorator)
        .orElseThrow(
            () ->
                new LockConfigurationException(
                    decorator.getClass().getName()
                        + " has no "
                        + missing
                        + ": override it, or return the manager below from"
                        + " unwrap(LockManager.class)"));
  }

  /**
   * Returns the exception of a manager that does not override a method for {@link
   * LockCapability#TRANSFER}. The manager below cannot help: it would hand out a lease past the
   * decorator.
   */
  static LockConfigurationException withoutTransfer(LockManager manager, String missing) {
    return new LockConfigurationException(
        manager.capabilities().contains(LockCapability.TRANSFER)
            ? manager.getClass().getName()
                + " has no "
                + missing
                + ": override it, and pass it on to the manager below"
            : missing
                + " needs TRANSFER, which this backend does not have: "
                + manager.capabilities());
  }

  /** Returns the manager that a decorator passes its calls to, if there is one. */
  static Optional<LockManager> find(LockManager decorator) {
    return decorator.unwrap(LockManager.class).filter(below -> below != decorator);
  }

  /** Returns the exception of a lease that lacks a method of transfers. */
  static LockConfigurationException withoutTransfer(Lease lease, String missing) {
    return new LockConfigurationException(
        lease.getClass().getName()
            + " has no "
            + missing
            + ": override it, implement LeaseDecorator, or use a backend that has TRANSFER");
  }
}
