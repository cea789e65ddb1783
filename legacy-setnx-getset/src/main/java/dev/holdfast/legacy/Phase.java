package dev.holdfast.legacy;

/** Where a process stands on its way from one lock to another. */
enum Phase {
  /** The old lock alone. */
  FROM,
  /** Both, the old one first. */
  BOTH,
  /** The new lock alone. */
  TO
}
