package dev.holdfast.tck.broken;

import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** Requests of which some parts are forgotten, or are others than were asked for. */
final class Asked {
  private Asked() {}

  /** A part of a request that can be forgotten. */
  enum Part {
    OWNER,
    MAX_HOLD,
    MIN_HOLD
  }

  /** The same request without some of its parts. */
  static LockRequest without(LockRequest asked, Part first, Part... more) {
    return copy(asked, asked.ttl(), EnumSet.of(first, more));
  }

  /** The same request for another ttl, which is not below its longest hold. */
  static LockRequest withTtl(LockRequest asked, Duration ttl) {
    return copy(asked, ttl, Set.of());
  }

  private static LockRequest copy(LockRequest asked, Duration ttl, Set<Part> forgotten) {
    LockRequest copy = LockRequest.of(asked.name(), ttl);
    copy = asked.waitAtMost().map(copy::waitAtMost).orElse(copy);
    if (!forgotten.contains(Part.MIN_HOLD)) {
      copy = copy.holdAtLeast(asked.holdAtLeast());
    }
    Optional<Duration> hold =
        forgotten.contains(Part.MAX_HOLD) ? Optional.empty() : asked.keepAliveUpTo();
    copy = hold.isPresent() ? copy.keepAliveUpTo(max(hold.get(), ttl)) : copy;
    Optional<String> owner = forgotten.contains(Part.OWNER) ? Optional.empty() : asked.ownerLabel();
    return owner.isPresent() ? copy.ownerLabel(owner.get()) : copy;
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
