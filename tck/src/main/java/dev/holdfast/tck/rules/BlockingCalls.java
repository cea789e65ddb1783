package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The calls of a manager and of a lease that block, if the manager declares what they need. */
final class BlockingCalls {
  private BlockingCalls() {}

  /**
   * Returns the calls, the most harmful last.
   *
   * @param held a lease of the manager
   */
  static List<Eventually.Assertions> of(TckFixture fixture, LockManager locks, Lease held) {
    LockRequest request = fixture.request(fixture.name("other"));
    List<Eventually.Assertions> calls = new ArrayList<>();
    calls.add(() -> locks.tryAcquire(request));
    calls.add(() -> locks.acquire(request));
    calls.add(() -> locks.executeLocked(request, lease -> "done"));
    calls.add(() -> locks.ping(Duration.ofSeconds(1)));
    if (fixture.declares(LockCapability.EXTENSION)) {
      calls.add(() -> held.extend(fixture.ttl()));
    }
    if (fixture.declares(LockCapability.INSPECTION)) {
      calls.add(() -> locks.inspect(held.name()));
    }
    if (fixture.declares(LockCapability.FORCE_RELEASE)) {
      calls.add(() -> locks.forceRelease(held.name()));
    }
    if (fixture.declares(LockCapability.TRANSFER)) {
      LockRequest given = fixture.request(fixture.name("given"));
      String text = TransferredLock.text(fixture, fixture.take(locks, given), fixture.ttl());
      calls.add(() -> locks.adopt(text, given));
      calls.add(() -> held.transfer(fixture.ttl()));
    }
    calls.addAll(List.of(held::release, held::close, locks::close));
    return calls;
  }
}
