package dev.holdfast.reactor;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Warnings of releases that no quorum confirmed, at most one a second: an outage fails thousands of
 * releases at once. Safe for use by many threads.
 */
final class ReleaseWarnings {
  private static final Logger LOG = System.getLogger(Lease.class.getName());
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanos;
  private long notBefore;
  private int skipped;

  /**
   * Has warned of nothing yet.
   *
   * @param nanos monotonic time, in nanoseconds
   */
  ReleaseWarnings(LongSupplier nanos) {
    this.nanos = nanos;
    this.notBefore = nanos.getAsLong();
  }

  /** Warns of a release, or counts it for the next warning. */
  void add(String lock, Throwable failure) {
    int more;
    synchronized (this) {
      long now = nanos.getAsLong();
      if (now - notBefore < 0) {
        skipped++;
        return;
      }
      notBefore = now + PERIOD_NANOS;
      more = skipped;
      skipped = 0;
    }
    LOG.log(
        Level.WARNING,
        "the release of ''{0}''{1} was not confirmed; the lock expires by itself: {2}",
        lock,
        more == 0 ? "" : " and of " + more + " more",
        failure.getMessage());
  }
}
