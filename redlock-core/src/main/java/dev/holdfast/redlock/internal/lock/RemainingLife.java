package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.LockPrimitive.Release;

/**
 * The time for which a released lock keeps other owners out. Immutable.
 *
 * @param until the end of this time, by the clock's nanoseconds
 * @param mayLengthen whether the key may live longer than before the release
 */
record RemainingLife(long until, boolean mayLengthen) {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Returns the life of a lock that is deleted, at any later time. */
  static RemainingLife none(long now) {
    return new RemainingLife(now, false);
  }

  static RemainingLife of(Release release, long now) {
    return new RemainingLife(now + release.keep().toNanos(), release.mayLengthen());
  }

  /** Returns the milliseconds that are left, rounded up, zero for a release that deletes. */
  long millisLeft(long now) {
    return Math.max(0, until - now + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
  }
}
