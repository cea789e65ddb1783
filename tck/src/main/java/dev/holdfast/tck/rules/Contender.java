package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Another owner that holds a lock until a test releases it. If the kit knows the nodes, it writes
 * to them directly, so that only the waiters are at fault if they do not get the lock then.
 */
final class Contender {
  private final TckFixture fixture;
  private final String name;
  private final @Nullable Lease lease;

  private Contender(TckFixture fixture, String name, @Nullable Lease lease) {
    this.fixture = fixture;
    this.name = name;
    this.lease = lease;
  }

  static Contender holding(TckFixture fixture, String name) {
    return fixture.nodes().isEmpty()
        ? new Contender(fixture, name, fixture.take(fixture.open(), name, fixture.ttl()))
        : occupying(fixture, name, fixture.foreignTtl());
  }

  /** Holds a lock with a short ttl and does not release it. */
  static Contender holdingBriefly(TckFixture fixture, String name) {
    return fixture.nodes().isEmpty()
        ? new Contender(
            fixture, name, fixture.take(fixture.openForShortTtl(), name, fixture.shortTtl()))
        : occupying(fixture, name, Duration.ofMillis(200));
  }

  private static Contender occupying(TckFixture fixture, String name, Duration ttl) {
    fixture.nodes().forEach(node -> node.occupy(name, OnNodes.occupant(node), ttl));
    return new Contender(fixture, name, null);
  }

  /** Returns the name of the lock. */
  String name() {
    return name;
  }

  void letGo() {
    if (lease != null) {
      TckFixture.regardless(lease::release);
    }
    fixture.nodes().forEach(node -> node.remove(name));
  }
}
