package dev.holdfast;

/** The reason why a lease ended without a release by its holder. */
public enum LossReason {
  /**
   * The validity ended: the lease was not renewed, or the process or machine was stopped for too
   * long.
   */
  EXPIRED,
  /** Another owner's token was seen on a quorum of nodes, or in place of the lease's token. */
  TAKEN,
  /**
   * The lease's keys are gone: an operator released the lock by force, or nodes lost their data.
   */
  REMOVED,
  /** The validity ended, and no quorum had answered or allowed the last renewal or extension. */
  UNREACHABLE,
  /** The lease reached the longest hold of its request ({@link LockRequest#keepAliveUpTo}). */
  MAX_HOLD,
  /** The manager of the lease was closed. */
  CLOSED
}
