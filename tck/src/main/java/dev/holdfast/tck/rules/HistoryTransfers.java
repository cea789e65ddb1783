package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.rules.HistoryLocks.Ended;
import dev.holdfast.tck.rules.ModelLock.Held;
import dev.holdfast.tck.rules.ModelLock.Transferred;
import java.time.Duration;
import java.util.Optional;

/** The steps of a {@link History} that transfer and adopt locks. */
final class HistoryTransfers {
  private final HistoryLocks locks;
  private final TckFixture fixture;
  private final Seed seed;
  private final HistoryChecks checks;

  HistoryTransfers(HistoryLocks locks) {
    this.locks = locks;
    this.fixture = locks.fixture;
    this.seed = locks.seed;
    this.checks = locks.checks;
  }

  /** Adopts until all nodes know the script: one that is late to say so keeps the old token. */
  void adoptOnAllNodes() {
    LockManager manager = locks.managers.get(0);
    LockRequest request = fixture.request(fixture.name("adopted"));
    fixture
        .soon()
        .until(
            "all nodes know how to adopt",
            () -> {
              String text = OnNodes.take(fixture, manager, request).transfer(fixture.ttl());
              Lease lease = manager.adopt(text, request);
              long adopted = OnNodes.count(fixture, lease.name(), lease.token());
              Attempts.release(fixture, lease);
              return adopted == fixture.nodes().size();
            });
  }

  boolean transfers() {
    return locks.onHeld(
        lock -> lock.waiter == null && !lock.mayBeKept() && checks.isOnAllNodes(lock),
        this::transfer);
  }

  private void transfer(ModelLock lock, Held held) {
    Duration within = HistoryValues.ttl(fixture, seed);
    locks.note(held.manager() + ": transfers " + lock + " within " + within);
    String text =
        seed.nextBoolean()
            ? held.lease().transfer(within)
            : fixture.soon().get("it is transferred", held.lease().transferAsync(within));
    lock.state = new Transferred(text);
    locks.ended.add(new Ended(held.lease(), true));
  }

  boolean adopts() {
    Optional<ModelLock> any =
        locks.any(locks.all.stream().filter(lock -> lock.state instanceof Transferred).toList());
    if (any.isEmpty()) {
      return false;
    }
    ModelLock lock = any.get();
    int manager = locks.anyManager();
    String text = ((Transferred) lock.state).text();
    LockRequest request = locks.request(lock);
    locks.note(manager + ": adopts " + lock + ": " + request);
    long begun = System.nanoTime();
    LockManager adopter = locks.managers.get(manager);
    Lease lease =
        seed.nextBoolean()
            ? adopter.adopt(text, request)
            : fixture.soon().get("it is adopted", adopter.adoptAsync(text, request));
    locks.usedTexts.add(text);
    locks.granted(lock, manager, lease, request, begun);
    return true;
  }

  boolean adoptsWithoutSuccess() {
    Optional<String> text = locks.any(locks.usedTexts);
    if (text.isEmpty()) {
      return false;
    }
    locks.note("a text that was used is used again");
    LockManager manager = locks.managers.get(locks.anyManager());
    for (ModelLock each : locks.all) {
      assertThatThrownBy(() -> manager.adopt(text.get(), locks.request(each)))
          .as("the second adoption")
          .isInstanceOf(RuntimeException.class);
      checks.unchanged(each);
    }
    return true;
  }
}
