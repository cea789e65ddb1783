package dev.holdfast.core;

import dev.holdfast.LockRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The time after which no extension keeps a grant, because of {@code keepAliveUpTo}.
 *
 * @param clock the manager's
 * @param end null for no limit
 */
record HoldLimit(Clock clock, @Nullable ClockReading end) {
  static HoldLimit of(LockRequest request, Clock clock, ClockReading grantedAt) {
    return new HoldLimit(
        clock,
        request.keepAliveUpTo().map(hold -> grantedAt.plusNanos(Nanos.of(hold))).orElse(null));
  }

  /** Limits the end of an extension, which may be sent later than its ttl was limited. */
  ClockReading limited(ClockReading extendedTo) {
    return end == null ? extendedTo : extendedTo.earlier(end);
  }

  /** Limits a ttl from now; zero or more. */
  Duration limited(Duration ttl) {
    if (end == null) {
      return ttl;
    }
    long left = clock.now().nanosUntil(end);
    return left < Nanos.of(ttl) ? Duration.ofNanos(Math.max(0, left)) : ttl;
  }
}
