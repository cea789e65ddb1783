package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.rules.ModelLock.Held;
import dev.holdfast.tck.rules.ModelLock.Span;
import dev.holdfast.tck.rules.ModelLock.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The managers and locks of a {@link History}, and what is known of them. */
final class HistoryLocks {
  private static final int MANAGERS = 3;

  final TckFixture fixture;
  final Seed seed;
  final HistoryChecks checks;
  final List<LockManager> managers = new ArrayList<>();
  final List<ModelLock> all;
  final List<Ended> ended = new ArrayList<>();
  final List<Stolen> stolen = new ArrayList<>();
  final List<String> usedTexts = new ArrayList<>();
  private final String[] options;
  private final Consumer<String> trace;

  /**
   * Opens the managers.
   *
   * @param nodes those that do not fail
   * @param trace takes what is done
   */
  HistoryLocks(
      TckFixture fixture,
      Seed seed,
      List<TckNode> nodes,
      Consumer<String> trace,
      String... options) {
    this.fixture = fixture;
    this.seed = seed;
    this.trace = trace;
    this.options = options;
    checks = new HistoryChecks(fixture, nodes);
    if (seed.nextBoolean() && !nodes.isEmpty() && fixture.environment().clock().isPresent()) {
      note("the clocks of the managers are an hour behind those of the nodes");
      Needs.clock(fixture).step(Duration.ofHours(-1));
    }
    all = HistoryValues.names(fixture.name("h")).stream().map(ModelLock::new).toList();
    for (int i = 0; i < MANAGERS; i++) {
      managers.add(open());
    }
  }

  /** An answer of a call of the past, which never changes. */
  record Ended(Lease lease, boolean confirmed) {}

  /** A lease whose lock was released by force, which its holder may not know yet. */
  record Stolen(ModelLock lock, int manager, Lease lease) {}

  LockManager open() {
    return fixture.open(options);
  }

  int anyManager() {
    return seed.below(MANAGERS);
  }

  ModelLock anyLock() {
    return seed.oneOf(all);
  }

  /** Notes that a lock has been released, and who gets it if there is a waiter. */
  void freed(ModelLock lock) {
    lock.free();
    Waiter waiter = lock.waiter;
    if (waiter == null) {
      checks.free(lock);
      return;
    }
    Lease lease = fixture.soon().get("the waiter has got " + lock, waiter.answer());
    lock.waiter = null;
    if (!checks.isWellThroughout() && !Attempts.comes(() -> checks.isOnAll(lease))) {
      // An attempt that met the release on its way has a quorum with the nodes that fail later.
      checks.granted(lock, lease);
      checks.heldByABareQuorum(lease);
      TckFixture.regardless(lease::release);
      checks.free(lock);
      return;
    }
    LockRequest asked = LockRequest.of(lock.name(), waiter.ttl());
    granted(
        lock,
        waiter.manager(),
        lease,
        waiter.label().map(asked::ownerLabel).orElse(asked),
        waiter.begun());
  }

  void granted(ModelLock lock, int manager, Lease lease, LockRequest request, long begun) {
    long now = System.nanoTime();
    Duration minimum = request.holdAtLeast();
    lock.state =
        new Held(
            manager,
            lease,
            request.ownerLabel(),
            Span.after(begun, now, request.ttl()),
            minimum.isZero() ? null : Span.after(begun, now, minimum));
    checks.granted(lock, lease);
    checks.unchanged(lock);
  }

  LockRequest request(ModelLock lock) {
    return HistoryValues.request(fixture, seed, lock.name());
  }

  /** Makes a step on a lock that is held, and returns false if none is there that fits. */
  boolean onHeld(Predicate<ModelLock> fits, BiConsumer<ModelLock, Held> step) {
    Optional<ModelLock> lock =
        any(all.stream().filter(each -> each.held().isPresent()).toList()).filter(fits);
    lock.ifPresent(each -> step.accept(each, each.held().orElseThrow()));
    return lock.isPresent();
  }

  <T> Optional<T> any(List<T> choices) {
    return choices.isEmpty() ? Optional.empty() : Optional.of(seed.oneOf(choices));
  }

  void note(String step) {
    trace.accept(step);
  }
}
