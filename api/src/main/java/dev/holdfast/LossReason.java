package dev.holdfast;

/** The reason why a lease ended without a release by its holder. */
public enum LossReason {
  /** Its time ran out: it was not renewed, or the process or machine was stopped for too long. */
  EXPIRED,
  /** Another owner's token was seen on a quorum of nodes, or in its place. */
  TAKEN,
  /** Its keys are gone: an operator released it by force, or nodes lost their data. */
  REMOVED,
  /** Its time ran out while renewals were tried, and no quorum answered or allowed them. */
  UNREACHABLE,
  /** It reached the longest hold that its request allowed ({@link LockRequest#keepAliveUpTo}). */
  MAX_HOLD,
  /** Its manager was closed. */
  CLOSED
}
