package dev.holdfast.legacy.fleet;

/** The phase of a process: it has not begun to move, or is in a phase of the migration. */
enum Kind {
  OLD,
  FROM,
  BOTH,
  TO;

  boolean isOurs() {
    return this != OLD;
  }
}
