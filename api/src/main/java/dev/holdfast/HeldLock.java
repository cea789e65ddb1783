package dev.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A lock that a manager holds, as {@link LockManager#leases} shows it.
 *
 * @param name the name of the lock
 * @param ownerLabel the holder's label
 * @param since when the lock was granted, by the manager's wall clock
 * @param remaining how long the lease is valid if nothing renews it
 * @param keptAliveUntil when the renewals end, or empty if the lease is not renewed
 */
public record HeldLock(
    String name,
    String ownerLabel,
    Instant since,
    Duration remaining,
    Optional<Instant> keptAliveUntil) {
  /** Checks that nothing is null. */
  public HeldLock {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(ownerLabel, "ownerLabel");
    Objects.requireNonNull(since, "since");
    Objects.requireNonNull(remaining, "remaining");
    Objects.requireNonNull(keptAliveUntil, "keptAliveUntil");
  }
}
