package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Warns of releases that no quorum confirmed, at most once a second: a manager whose nodes are away
 * closes thousands of leases at once. Safe for use by many threads.
 */
final class UnconfirmedReleases {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  /** The interval of warnings: one a second names the trouble, more would hide it. */
  private static final long PERIOD_NANOS = 1_000_000_000L;

  private final WarningPace pace;
  private int count;
  private @Nullable String name;
  private @Nullable LockException failure;

  UnconfirmedReleases(Scheduler scheduler) {
    pace = new WarningPace(scheduler, PERIOD_NANOS, this::isCounted, this::report);
  }

  /** Warns of one at once, or counts it for the next warning. */
  void add(String lock, LockException why) {
    synchronized (this) {
      count++;
      name = lock;
      failure = why;
    }
    pace.onCounted();
  }

  private synchronized boolean isCounted() {
    return count > 0;
  }

  /** Warns of those that were counted, if any. */
  void report() {
    int counted;
    String last;
    LockException why;
    synchronized (this) {
      counted = count;
      last = name;
      why = failure;
      count = 0;
    }
    if (counted > 0 && last != null && why != null) {
      LOG.log(
          Level.WARNING,
          "the release of ''{0}''{1} was not confirmed; the lock expires by itself: {2}",
          last,
          counted == 1 ? "" : " and of " + (counted - 1) + " more",
          why.getMessage());
    }
  }
}
