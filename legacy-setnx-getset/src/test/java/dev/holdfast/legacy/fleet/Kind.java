package dev.holdfast.legacy.fleet;

/** Where a process stands: it has not begun to move, or is in a phase of the migration. */
enum Kind {
  OLD,
  FROM,
  BOTH,
  TO;

  boolean isOurs() {
    return this != OLD;
  }
}
