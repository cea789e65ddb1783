package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.Clock;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The scenario of a client whose clock is ahead by more than the ttl. */
final class CompareClocks {
  private static final String NAME = "compare";
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration AHEAD = TTL.multipliedBy(2);

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private CompareClocks() {}

  static CompareCells apart(CompareLock lock) throws InterruptedException {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager right = lock.open(nodes.uris());
        LockManager ahead = lock.open(nodes.uris(), new FastClock())) {
      Lease first = right.acquire(LockRequest.of(NAME, TTL).waitAtMost(PATIENCE));
      Optional<Lease> second = ahead.tryAcquire(LockRequest.of(NAME, TTL));
      return CompareCells.twoOwners(
          second.isPresent() && CompareJudge.bothHeld(first, second.get()));
    }
  }

  private record FastClock() implements Clock {
    @Override
    public long nanos() {
      return Clock.system().nanos();
    }

    @Override
    public long wallMicros() {
      return Clock.system().wallMicros() + TimeUnit.NANOSECONDS.toMicros(AHEAD.toNanos());
    }
  }
}
