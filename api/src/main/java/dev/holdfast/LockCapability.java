package dev.holdfast;

/**
 * A promise that a backend can keep. A manager declares its capabilities; a request that needs one
 * that is not declared is refused with {@link LockConfigurationException} before any input or
 * output.
 */
public enum LockCapability {
  /** A lease can be extended: {@link Lease#extend}. */
  EXTENSION,
  /** A lease can be renewed in the background: {@link LockRequest#keepAliveUpTo}. */
  KEEP_ALIVE,
  /** Every grant carries a number larger than all before it: {@link Lease#fencingToken}. */
  FENCING_TOKEN,
  /** A release removes the lock only while it is still one's own, compared and deleted as one. */
  OWNER_SAFE_RELEASE,
  /** Locks can be taken, and stay taken, while a minority of the nodes is gone. */
  FAULT_TOLERANT,
  /** The lock can be kept from others for a least time: {@link LockRequest#holdAtLeast}. */
  HOLD_AT_LEAST,
  /** Threads of one manager that wait for one name get it in the order in which they came. */
  FIFO_IN_PROCESS,
  /** The holder can be looked up: {@link LockManager#inspect}. */
  INSPECTION,
  /** An operator can take a lock away from its holder: {@link LockManager#forceRelease}. */
  FORCE_RELEASE,
  /** A lease can go on in another process: {@link Lease#transfer} and {@link LockManager#adopt}. */
  TRANSFER
}
