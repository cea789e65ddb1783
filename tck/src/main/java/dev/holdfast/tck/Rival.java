package dev.holdfast.tck;

import dev.holdfast.Lease;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else who holds a lock until a test lets it go. From behind where the nodes can be seen,
 * so that it is nobody's fault but the waiters' if they do not get it then.
 */
final class Rival {
  private final Trial trial;
  private final String name;
  private final @Nullable Lease lease;

  private Rival(Trial trial, String name, @Nullable Lease lease) {
    this.trial = trial;
    this.name = name;
    this.lease = lease;
  }

  static Rival holding(Trial trial, String name) {
    return trial.nodes().isEmpty()
        ? new Rival(trial, name, trial.take(trial.open(), name, trial.ttl()))
        : occupying(trial, name, trial.foreignTtl());
  }

  /** Does not let go, but has a short ttl. */
  static Rival holdingBriefly(Trial trial, String name) {
    return trial.nodes().isEmpty()
        ? new Rival(trial, name, trial.take(trial.openForShortTtl(), name, trial.shortTtl()))
        : occupying(trial, name, Duration.ofMillis(200));
  }

  private static Rival occupying(Trial trial, String name, Duration ttl) {
    trial.nodes().forEach(node -> node.occupy(name, Trial.occupant(node), ttl));
    return new Rival(trial, name, null);
  }

  void letGo() {
    if (lease != null) {
      Trial.regardless(lease::release);
    }
    trial.nodes().forEach(node -> node.remove(name));
  }
}
