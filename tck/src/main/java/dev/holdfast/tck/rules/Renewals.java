package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.List;

/** The renewals of leases, seen by their holders: without waiting for the end of a ttl. */
final class Renewals {
  /** A third of it is a second, and a machine that stalls loses none of it. */
  static final Duration TTL = Duration.ofSeconds(3);

  private Renewals() {}

  /** Waits until leases have been renewed, each of which was granted for {@link #TTL} before. */
  static void await(TckFixture fixture, List<Lease> leases) {
    long begun = System.nanoTime();
    fixture
        .soon()
        .until(
            "all leases were renewed, or one is over",
            () -> {
              Duration elapsed = Elapsed.since(begun);
              return leases.stream().anyMatch(lease -> !lease.isHeld())
                  || leases.stream()
                      .allMatch(lease -> lease.remaining().plus(elapsed).compareTo(TTL) > 0);
            });
  }

  /** Leaves the test out if leases are not kept alive. Takes time: for what seems to fail. */
  static void needed(TckFixture fixture) {
    Duration ttl = fixture.shortTtl().multipliedBy(2);
    LockRequest request =
        LockRequest.of(fixture.name("probe"), ttl).keepAliveUpTo(ttl.multipliedBy(100));
    Lease probe = fixture.take(fixture.openForShortTtl(), request);
    long begun = System.nanoTime();
    fixture.awaitRegardless(
        "its ttl is over", () -> System.nanoTime() - begun > 5 * ttl.toNanos() / 4);
    if (!probe.isHeld()) {
      AnotherRule.isBroken("leases are not kept alive");
    }
    TckFixture.regardless(probe::release);
  }
}
