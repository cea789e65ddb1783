package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** Locks as the nodes hold them, seen and changed without a manager. */
final class OnNodes {
  /** Longer than a node that was asked needs. */
  private static final Duration TAKEN_AGAIN_AFTER = Duration.ofSeconds(2);

  private OnNodes() {}

  /** Returns the nodes' URIs with a user and a password, or leaves the test out. */
  static List<String> urisWithLogin(TckFixture fixture) {
    return uris(fixture, TckNode::withLogin, "there is no user to log in as");
  }

  /** Returns the nodes' URIs with a password alone. Leaves the test out where there is none. */
  static List<String> urisWithPassword(TckFixture fixture) {
    return uris(fixture, TckNode::withPassword, "no password is enough here");
  }

  /** Returns these URIs with a password that no node accepts while it needs one. */
  static List<String> withAnotherPassword(List<String> uris) {
    return uris.stream().map(uri -> uri.replace("@", "x@")).toList();
  }

  /**
   * Returns the nodes' URIs with a user and no password. Leaves the test out where there is none.
   */
  static List<String> urisWithUserAlone(TckFixture fixture) {
    return uris(fixture, TckNode::withUserAlone, "every user has a password here");
  }

  private static List<String> uris(
      TckFixture fixture, Function<TckNode, Optional<String>> uri, String whereThereIsNone) {
    Needs.nodes(fixture, 1);
    return fixture.nodes().stream()
        .map(node -> uri.apply(node).orElseGet(() -> abort(whereThereIsNone)))
        .toList();
  }

  /** Takes a lock on some nodes as another owner would. */
  static void occupy(TckFixture fixture, List<TckNode> nodes, String name) {
    nodes.forEach(node -> node.occupy(name, occupant(node), fixture.foreignTtl()));
  }

  /** Returns the owner that {@link #occupy} sets. */
  static String occupant(TckNode node) {
    return "another owner on " + node.address();
  }

  /** Returns whether a lock is as {@link #occupy} left it. */
  static boolean isUntouched(TckFixture fixture, TckNode node, String name) {
    return node.holder(name).equals(Optional.of(occupant(node)))
        && node.timeToLive(name).compareTo(fixture.ttl()) > 0;
  }

  /** Lets nodes lose a lock: with all else, as a restart does, where they know how. */
  static void lose(TckFixture fixture, List<TckNode> nodes, String name) {
    if (Faults.areKnown(fixture, TckFault.EMPTIED)) {
      Faults.begin(fixture, TckFault.EMPTIED, nodes, name);
    } else {
      nodes.forEach(node -> node.remove(name));
    }
  }

  /** Returns how many nodes hold a lock by this token. */
  static long count(TckFixture fixture, String name, String token) {
    return fixture.nodes().stream().filter(n -> n.holder(name).equals(Optional.of(token))).count();
  }

  static boolean isFree(List<TckNode> nodes, String name) {
    return nodes.stream().allMatch(node -> node.holder(name).isEmpty());
  }

  /** Waits until no node holds a lock. */
  static void awaitFree(TckFixture fixture, String name) {
    fixture.soon().until("nothing is left of " + name, () -> isFree(fixture.nodes(), name));
  }

  /** Leaves the test out where nodes keep no lock for its ttl, or keep it for longer: ACQ-10's. */
  static void needsExpiry(TckFixture fixture) {
    Duration ttl = Duration.ofMillis(20);
    String name = fixture.name("expiring");
    List<TckNode> nodes = fixture.nodes();
    long begun = System.nanoTime();
    nodes.forEach(node -> node.occupy(name, occupant(node), ttl));
    fixture.awaitRegardless("they expire", () -> isFree(nodes, name));
    if (!isFree(nodes, name)) {
      AnotherRule.isBroken("a lock without renewals does not expire");
    }
    if (!nodes.isEmpty() && System.nanoTime() - begun < ttl.toNanos()) {
      AnotherRule.isBroken("a lock expires before its time");
    }
  }

  /**
   * Opens a manager that has asked all nodes: one that is only opened may still connect to some.
   */
  static LockManager open(TckFixture fixture, String... options) {
    LockManager locks = fixture.open(options);
    take(fixture, locks, fixture.name("warm"), fixture.ttl()).close();
    return locks;
  }

  /**
   * Takes a lock on all nodes: where it is known who holds it, nothing comes late. A node whose
   * connection was being replaced is not asked again, so the lock is then taken again.
   */
  static Lease take(TckFixture fixture, LockManager locks, LockRequest request) {
    AtomicReference<Lease> taken = new AtomicReference<>(fixture.take(locks, request));
    AtomicLong since = new AtomicLong(System.nanoTime());
    fixture
        .soon()
        .until(
            "all nodes hold it",
            () -> {
              Lease lease = Objects.requireNonNull(taken.get());
              if (count(fixture, lease.name(), lease.token()) == fixture.nodes().size()) {
                return true;
              }
              if (System.nanoTime() - since.get() > TAKEN_AGAIN_AFTER.toNanos()) {
                Attempts.release(fixture, lease);
                taken.set(fixture.take(locks, request));
                since.set(System.nanoTime());
              }
              return false;
            });
    return Objects.requireNonNull(taken.get());
  }

  static Lease take(TckFixture fixture, LockManager locks, String name, Duration ttl) {
    return take(fixture, locks, LockRequest.of(name, ttl));
  }
}
