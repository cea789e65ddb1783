package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Single attempts at a lock, for tests that are not about the failure of an attempt. */
final class Attempts {
  /** The time for which a test watches to see that something does not happen. */
  static final Duration LOOK = Duration.ofMillis(200);

  private static final Duration FOR_A_VOTE = Duration.ofMillis(250);

  private Attempts() {}

  /** Makes one attempt. Returns empty for any failure, because other rules cover the exceptions. */
  static Optional<Lease> once(LockManager locks, String name, Duration ttl)
      throws InterruptedException {
    try {
      return locks.tryAcquire(name, ttl);
    } catch (RuntimeException notGot) {
      IgnoredFailures.add(notGot);
      return Optional.empty();
    }
  }

  /** Makes an attempt that fails. Leaves the test out if it is granted, which other rules cover. */
  static void refused(TckFixture fixture, LockManager locks, String name)
      throws InterruptedException {
    if (fixture.gets(locks, name)) {
      AnotherRule.isBroken(
          "the attempt was granted, so that nothing can be seen of one that fails");
    }
  }

  /**
   * Makes one attempt after the other until one is granted, because other rules cover wait queues.
   */
  static Lease untilGot(TckFixture fixture, LockManager locks, String name) {
    AtomicReference<@Nullable Lease> got = new AtomicReference<>();
    fixture
        .soon()
        .until(
            name + " was acquired",
            () -> {
              got.set(once(locks, name, fixture.ttl()).orElse(null));
              return got.get() != null;
            });
    return Objects.requireNonNull(got.get());
  }

  /**
   * Makes one attempt after the other until one is granted. Returns when that one began, by {@link
   * System#nanoTime}, because on a busy machine an attempt takes long.
   */
  static long beginOfGrant(TckFixture fixture, LockManager locks, String name) {
    AtomicLong begun = new AtomicLong();
    fixture
        .soon()
        .until(
            "others get " + name,
            () -> {
              begun.set(System.nanoTime());
              return fixture.gets(locks, name);
            });
    return begun.get();
  }

  /** Releases a lock, and also removes it from the nodes if the kit knows them. */
  static void release(TckFixture fixture, Lease lease) {
    TckFixture.regardless(lease::release);
    fixture.nodes().forEach(node -> node.remove(lease.name()));
  }

  /** Waits until a node that a manager can reach grants its locks. */
  static void awaitVote(TckFixture fixture, LockManager locks, TckNode node) {
    fixture.soon().until(node.address() + " granted a lock", () -> votes(fixture, locks, node));
  }

  /** Leaves the test out if a node is not used again, which is another rule's. */
  static void needsVote(TckFixture fixture, LockManager locks, TckNode node) {
    try {
      awaitVote(fixture, locks, node);
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken(node.address() + " is not used again");
    }
  }

  /**
   * Makes attempts until one is granted. Leaves the test out if none is, which other rules cover.
   */
  static Lease untilGotAgain(TckFixture fixture, LockManager locks, String name) {
    try {
      return untilGot(fixture, locks, name);
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      return AnotherRule.isBroken("the nodes are not used again");
    }
  }

  static void awaitVotes(TckFixture fixture, LockManager locks, List<TckNode> nodes) {
    nodes.forEach(node -> awaitVote(fixture, locks, node));
  }

  /**
   * Waits until a lock is free. Looks at the nodes, or acquires the lock if the kit knows no node.
   */
  static void awaitFree(TckFixture fixture, String name) {
    if (fixture.nodes().isEmpty()) {
      TckFixture.regardless(untilGot(fixture, fixture.open(), name)::release);
    } else {
      OnNodes.awaitFree(fixture, name);
    }
  }

  /** Waits as {@link #staysFree} does, once attempts in flight have ended. */
  static void awaitFreeForGood(TckFixture fixture, String name) {
    fixture.soon().until("no caller took " + name + " any more", () -> staysFree(fixture, name));
  }

  /** Returns whether a free lock stays free for as long as a test looks on. */
  static boolean staysFree(TckFixture fixture, String name) throws InterruptedException {
    return stays(() -> OnNodes.isFree(fixture.nodes(), name))
        && (!fixture.nodes().isEmpty() || once(fixture.open(), name, fixture.ttl()).isPresent());
  }

  /** Returns whether a grant keeps other owners out for as long as a test watches. */
  static boolean staysTaken(TckFixture fixture, Lease lease) throws InterruptedException {
    String name = lease.name();
    return stays(
            () ->
                fixture.nodes().isEmpty()
                    || OnNodes.count(fixture, name, lease.token()) >= fixture.quorum())
        && once(fixture.open(), name, fixture.ttl()).isEmpty();
  }

  /** Returns whether a condition holds for as long as a test watches. */
  static boolean stays(BooleanSupplier condition) {
    return stays(LOOK, condition);
  }

  static boolean stays(Duration time, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (Elapsed.since(begun).compareTo(time) < 0) {
      if (!condition.getAsBoolean()) {
        return false;
      }
      pause();
    }
    return true;
  }

  /** Returns the lease of a future, empty whatever keeps the manager from the lock. */
  static Optional<Lease> answered(TckFixture fixture, CompletableFuture<Optional<Lease>> asked) {
    fixture.awaitRegardless("it is answered", asked::isDone);
    return asked.isDone() && !asked.isCompletedExceptionally() ? asked.join() : Optional.empty();
  }

  /** Pauses between two looks. */
  static void pause() {
    LockSupport.parkNanos(1_000_000);
  }

  /** Returns whether a condition comes true while a test watches. */
  static boolean comes(BooleanSupplier condition) {
    return comes(LOOK, condition);
  }

  static boolean comes(Duration time, BooleanSupplier condition) {
    return !stays(time, () -> !condition.getAsBoolean());
  }

  private static boolean votes(TckFixture fixture, LockManager locks, TckNode node)
      throws InterruptedException {
    String name = fixture.name("vote");
    Optional<Lease> lease = once(locks, name, fixture.ttl());
    if (lease.isEmpty()) {
      return false;
    }
    try {
      long begun = System.nanoTime();
      while (System.nanoTime() - begun < FOR_A_VOTE.toNanos()) {
        if (node.holder(name).equals(Optional.of(lease.get().token()))) {
          return true;
        }
        LockSupport.parkNanos(1_000_000);
      }
      return false;
    } finally {
      TckFixture.regardless(lease.get()::release);
    }
  }
}
