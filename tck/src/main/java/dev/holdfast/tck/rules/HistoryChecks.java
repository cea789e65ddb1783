package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.rules.ModelLock.Damage;
import dev.holdfast.tck.rules.ModelLock.Held;
import dev.holdfast.tck.rules.ModelLock.Span;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The comparison of locks with the model of a {@link History}. */
final class HistoryChecks {
  /** More than the drift, and than the wall clock may run off during a history. */
  private static final int PERCENT = 3;

  private static final Duration ROUNDING = Duration.ofMillis(50);

  /** The time after its quorum in which a command reaches a node of a busy machine. */
  private static final Duration STRAGGLING = Duration.ofSeconds(2);

  private final TckFixture fixture;
  private final List<TckNode> nodes;
  private final Set<String> tokens = new HashSet<>();
  private final Map<String, Long> fencing = new HashMap<>();

  HistoryChecks(TckFixture fixture, List<TckNode> nodes) {
    this.fixture = fixture;
    this.nodes = nodes;
  }

  /** Checks what is new about a grant. */
  void granted(ModelLock lock, Lease lease) {
    assertThat(lease.name()).as("the name of a lease").isEqualTo(lock.name());
    assertThat(tokens.add(lease.token())).as("a token that is new").isTrue();
    if (fixture.declares(LockCapability.FENCING_TOKEN)) {
      assertThat(lease.fencingToken()).as("the fencing token").isPresent();
      long token = lease.fencingToken().orElseThrow();
      Long before = fencing.put(lock.name(), token);
      if (before != null) {
        assertThat(token).as("the fencing token").isGreaterThan(before);
      }
    }
  }

  /** Checks that a lock is as the model says, after calls that should change nothing. */
  void unchanged(ModelLock lock) {
    if (lock.state instanceof Held held) {
      assertThat(held.lease().isHeld()).as("the lease on %s is held", lock).isTrue();
      assertWithin(held.lease().remaining(), held.end(), "the rest of the lease on " + lock);
      if (!nodes.isEmpty()) {
        fixture
            .soon()
            .untilAsserted(
                () ->
                    assertThat(nodesWith(nodes, held, mostLate()))
                        .as(
                            () ->
                                "nodes that hold %s for its ttl: %s by %s"
                                    .formatted(lock, holders(nodes, lock), held.lease().token()))
                        .isGreaterThanOrEqualTo(fixture.quorum()));
      }
    } else if (lock.isFree()) {
      free(lock);
    }
  }

  /** Checks that nothing is left of a lock, except of another owner's. */
  void free(ModelLock lock) {
    List<TckNode> ours = withoutOthers(lock);
    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(holders(ours, lock))
                    .as("keys that are left of %s", lock)
                    .allMatch("free"::equals));
    if (lock.damage == Damage.OCCUPIED) {
      assertThat(fixture.minority())
          .as("nodes of %s that another owner has", lock)
          .allMatch(node -> OnNodes.isUntouched(fixture, node, lock.name()));
    }
  }

  /**
   * Returns whether all nodes hold a lock that is held. A node that has not received a grant yet
   * may receive a command of another connection before it.
   */
  boolean isOnAllNodes(ModelLock lock) {
    List<TckNode> all = withoutOthers(lock);
    return lock.held().filter(held -> nodesWith(all, held, STRAGGLING) == all.size()).isPresent();
  }

  /** Checks that as many nodes that do not fail hold a lease as a quorum with the others needs. */
  void heldByABareQuorum(Lease lease) {
    assertThat(nodes)
        .as("nodes that hold %s by %s", lease.name(), lease.token())
        .filteredOn(node -> holds(node, lease))
        .hasSizeGreaterThanOrEqualTo(fixture.quorum() - fixture.nodes().size() + nodes.size());
  }

  /** Returns whether all nodes that do not fail hold a lease. */
  boolean isOnAll(Lease lease) {
    return nodes.stream().allMatch(node -> holds(node, lease));
  }

  /** Checks what a manager shows of a lock. */
  void shown(ModelLock lock, LockManager manager) {
    if (lock.isFree()) {
      free(lock); // a node may be late to learn the end of a hold
    }
    long asked = System.nanoTime();
    Optional<LockStatus> status = manager.inspect(lock.name());
    long took = System.nanoTime() - asked; // a node may have answered at the beginning
    if (lock.isFree()) {
      assertThat(status).as("the holder of %s", lock).isEmpty();
      return;
    }
    assertThat(status).as("the holder of %s", lock).isPresent();
    assertThat(status.get().name()).isEqualTo(lock.name());
    lock.state
        .label()
        .ifPresent(label -> assertThat(status.get().ownerLabel()).as("label").isEqualTo(label));
    if (lock.state instanceof Held held) {
      Span end =
          new Span(held.end().from(), held.end().to() + fixture.allowance().toNanos() + took);
      assertWithin(status.get().remaining(), end, "the rest that is shown of " + lock);
    }
  }

  /** Returns the nodes of a lock on which no other owner has it. */
  private List<TckNode> withoutOthers(ModelLock lock) {
    return lock.damage == Damage.OCCUPIED ? fixture.nodesBut(fixture.minority()) : nodes;
  }

  /** Returns how late nodes may be, of which all are needed if others fail. */
  private Duration mostLate() {
    return isWellThroughout() ? Duration.ZERO : STRAGGLING;
  }

  /** Returns whether no node fails, so that what is left on any of them is known. */
  boolean isWellThroughout() {
    return nodes.size() == fixture.nodes().size();
  }

  private static boolean holds(TckNode node, Lease lease) {
    return node.holder(lease.name()).equals(Optional.of(lease.token()));
  }

  private static long nodesWith(List<TckNode> nodes, Held held, Duration late) {
    Span end = new Span(held.end().from(), held.end().to() + late.toNanos());
    return nodes.stream()
        .filter(node -> holds(node, held.lease()))
        .filter(node -> isWithin(node.timeToLive(held.lease().name()), end, 0))
        .count();
  }

  private static List<String> holders(List<TckNode> nodes, ModelLock lock) {
    return nodes.stream()
        .map(
            node ->
                node.holder(lock.name())
                    .map(token -> token + " for " + node.timeToLive(lock.name()))
                    .orElse("free"))
        .toList();
  }

  private static void assertWithin(Duration left, Span end, String what) {
    assertThat(left).as(what).matches(rest -> isWithin(rest, end, PERCENT));
  }

  private static boolean isWithin(Duration left, Span end, int percent) {
    long now = System.nanoTime();
    long most = end.to() - now + ROUNDING.toNanos();
    long least = end.from() - now - ROUNDING.toNanos();
    return left.toNanos() <= most && left.toNanos() >= least - least * percent / 100;
  }
}
