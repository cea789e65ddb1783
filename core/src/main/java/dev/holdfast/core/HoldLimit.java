package dev.holdfast.core;

import dev.holdfast.LockRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The limit that {@code keepAliveUpTo} sets to the extensions of a lease. Immutable.
 *
 * @param end the time past which no extension goes, or null if there is no limit
 */
record HoldLimit(Clock clock, @Nullable ClockReading end) {
  static HoldLimit of(Clock clock, LockRequest request, ClockReading grantedAt) {
    return new HoldLimit(
        clock,
        request.keepAliveUpTo().map(hold -> grantedAt.plusNanos(Nanos.of(hold))).orElse(null));
  }

  boolean isSet() {
    return end != null;
  }

  /** Limits the end of an extension, which may have been sent later than its ttl was limited. */
  ClockReading limit(ClockReading extended) {
    return end == null ? extended : extended.earlier(end);
  }

  /** Limits the ttl of an extension that is about to be sent. */
  Duration limit(Duration ttl) {
    if (end == null) {
      return ttl;
    }
    long left = clock.now().nanosUntil(end);
    return left < Nanos.of(ttl) ? Duration.ofNanos(Math.max(0, left)) : ttl;
  }
}
