package dev.holdfast;

/**
 * A promise that a backend can keep. A manager declares its capabilities. It refuses a request that
 * needs another capability with {@link LockConfigurationException}, before any input or output.
 */
public enum LockCapability {
  /** A lease can be extended: {@link Lease#extend}. */
  EXTENSION,
  /** A lease can be renewed in the background: {@link LockRequest#keepAliveUpTo}. */
  KEEP_ALIVE,
  /** Every grant carries a number larger than all before it: {@link Lease#fencingToken}. */
  FENCING_TOKEN,
  /** A release removes only the lock of its own grant, in one atomic step. */
  OWNER_SAFE_RELEASE,
  /** Locks can be acquired, and stay held, while a minority of the nodes is down. */
  FAULT_TOLERANT,
  /** Other owners can be kept out for a minimum time: {@link LockRequest#holdAtLeast}. */
  HOLD_AT_LEAST,
  /** Threads of one manager that wait for one name get the lock first in, first out. */
  FIFO_IN_PROCESS,
  /** The holder can be looked up: {@link LockManager#inspect}. */
  INSPECTION,
  /** An operator can take a lock away from its holder: {@link LockManager#forceRelease}. */
  FORCE_RELEASE,
  /** A lease can go on in another process: {@link Lease#transfer} and {@link LockManager#adopt}. */
  TRANSFER
}
