package dev.holdfast.chaos;

import java.time.Duration;
import java.util.List;

/**
 * Keys of locks that stay when they should not. Where there was no trouble they are gone as soon as
 * their release is answered, and after one, within the longest ttl.
 */
final class Orphans {
  /** The limit on a busy machine: all that was on its way has arrived. */
  static final Duration SOON = Duration.ofMillis(500);

  /** The longest time of an attempt that failed, to which a key without a grant belongs. */
  private static final long ATTEMPT_NANOS = Settings.QUORUM_TIMEOUT.toNanos();

  private final Leases leases;
  private final Troubles troubles;

  Orphans(Leases leases, Troubles troubles) {
    this.leases = leases;
    this.troubles = troubles;
  }

  List<String> among(List<Entry.Seen> seen) {
    return seen.stream().filter(this::isOrphan).map(Entry.Seen::line).toList();
  }

  private boolean isOrphan(Entry.Seen seen) {
    long over = leases.over(seen.token()).orElse(seen.from() + ATTEMPT_NANOS);
    if (!troubles.reach(seen.from(), seen.to())) {
      return seen.to() - over > SOON.toNanos();
    }
    long since = Math.max(over, troubles.healedBefore(seen.to()));
    return !troubles.isAt(seen.to()) && seen.to() - since > Settings.MAX_TTL.plus(SOON).toNanos();
  }
}
