package dev.holdfast.tck;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Single attempts at a lock, for tests that are not about what an attempt in vain looks like. */
final class Attempts {
  /** How long a test looks on to see that something does not happen. */
  static final Duration LOOK = Duration.ofMillis(200);

  private static final Duration FOR_A_VOTE = Duration.ofMillis(250);

  private Attempts() {}

  /** Empty whatever keeps the manager from the lock: what it throws then is another rule's. */
  static Optional<Lease> once(LockManager locks, String name, Duration ttl)
      throws InterruptedException {
    try {
      return locks.tryAcquire(name, ttl);
    } catch (RuntimeException notGot) {
      return Optional.empty();
    }
  }

  /** One that fails; the test is left out if it does not, which is another rule's. */
  static void inVain(Trial trial, LockManager locks, String name) throws InterruptedException {
    if (trial.gets(locks, name)) {
      abort("the attempt was granted, so that nothing can be seen of one that fails");
    }
  }

  /** One after the other, because waiting in line is another rule's. */
  static Lease untilGot(Trial trial, LockManager locks, String name) {
    AtomicReference<@Nullable Lease> got = new AtomicReference<>();
    trial
        .soon()
        .until(
            name + " was got",
            () -> {
              got.set(once(locks, name, trial.ttl()).orElse(null));
              return got.get() != null;
            });
    return Objects.requireNonNull(got.get());
  }

  /** Gives a lock back, and makes sure of it from behind where that can be done. */
  static void giveBack(Trial trial, Lease lease) {
    Trial.regardless(lease::release);
    trial.nodes().forEach(node -> node.remove(lease.name()));
  }

  /** Waits until a node that a manager can reach grants its locks. */
  static void awaitVote(Trial trial, LockManager locks, TckNode node) {
    trial.soon().until(node.address() + " granted a lock", () -> votes(trial, locks, node));
  }

  /** Leaves the test out if a node is not used again, which is another rule's. */
  static void needsVote(Trial trial, LockManager locks, TckNode node) {
    try {
      awaitVote(trial, locks, node);
    } catch (AssertionError e) {
      abort(node.address() + " is not used again, which is another rule's");
    }
  }

  /** Leaves the test out if no lock is got any more, which is another rule's. */
  static Lease untilGotAgain(Trial trial, LockManager locks, String name) {
    try {
      return untilGot(trial, locks, name);
    } catch (AssertionError e) {
      return abort("the nodes are not used again, which is another rule's");
    }
  }

  static void awaitVotes(Trial trial, LockManager locks, List<TckNode> nodes) {
    nodes.forEach(node -> awaitVote(trial, locks, node));
  }

  /** Waits until nobody holds a lock: seen from behind, or by getting it. */
  static void awaitFree(Trial trial, String name) {
    if (trial.nodes().isEmpty()) {
      Trial.regardless(untilGot(trial, trial.open(), name)::release);
    } else {
      trial.awaitFree(name);
    }
  }

  /** As {@link #staysFree}, once attempts are over that were under way. */
  static void awaitFreeForGood(Trial trial, String name) {
    trial.soon().until("nobody took " + name + " any more", () -> staysFree(trial, name));
  }

  /** Whether nobody takes a lock that is free, for as long as a test looks on. */
  static boolean staysFree(Trial trial, String name) throws InterruptedException {
    return stays(() -> trial.isFreeOn(trial.nodes(), name))
        && (!trial.nodes().isEmpty() || once(trial.open(), name, trial.ttl()).isPresent());
  }

  /** Whether others are kept out by a grant, for as long as a test looks on. */
  static boolean staysTaken(Trial trial, Lease lease) throws InterruptedException {
    String name = lease.name();
    return stays(
            () -> trial.nodes().isEmpty() || trial.holding(name, lease.token()) >= trial.quorum())
        && once(trial.open(), name, trial.ttl()).isEmpty();
  }

  /** Whether something is so for as long as a test looks on. */
  static boolean stays(BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < LOOK.toNanos()) {
      if (!condition.getAsBoolean()) {
        return false;
      }
      LockSupport.parkNanos(1_000_000);
    }
    return true;
  }

  /** Whether something comes to be so while a test looks on. */
  static boolean comes(BooleanSupplier condition) {
    return !stays(() -> !condition.getAsBoolean());
  }

  private static boolean votes(Trial trial, LockManager locks, TckNode node)
      throws InterruptedException {
    String name = trial.name("vote");
    Optional<Lease> lease = once(locks, name, trial.ttl());
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
      Trial.regardless(lease.get()::release);
    }
  }
}
