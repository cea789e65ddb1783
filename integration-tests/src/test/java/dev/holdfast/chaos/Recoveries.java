package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** How long it took after each healing until each lock was acquired again. */
final class Recoveries {
  /** Beyond the longest ttl, or what was left of quarantines that blocked a quorum. */
  private static final Duration ALLOWED = Duration.ofSeconds(1);

  private final List<String> late = new ArrayList<>();
  private long longestNanos;

  Recoveries(List<Troubles.Healing> healings, Leases leases) {
    for (Troubles.Healing healing : healings) {
      leases.nextGrants(healing.at()).forEach((name, at) -> add(healing, name, at));
    }
  }

  private void add(Troubles.Healing healing, String name, OptionalLong grant) {
    long at = grant.orElse(Long.MAX_VALUE) - healing.lostNanos();
    long limit =
        Math.max(healing.at() + Settings.MAX_TTL.toNanos(), healing.voting()) + ALLOWED.toNanos();
    longestNanos = Math.max(longestNanos, at - Math.max(healing.at(), healing.voting()));
    if (at > limit) {
      late.add(name + " after " + healing + ": " + grant);
    }
  }

  List<String> late() {
    return late;
  }

  /** From the healing, or from the end of quarantines that blocked a quorum. */
  long longestNanos() {
    return longestNanos;
  }
}
