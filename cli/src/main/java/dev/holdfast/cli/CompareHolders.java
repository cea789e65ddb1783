package dev.holdfast.cli;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.Optional;

/** What happens when the process that holds a lock does not release it in time. */
final class CompareHolders {
  private static final String NAME = "compare";

  /** Of the holder. */
  static final Duration TTL = Duration.ofSeconds(2);

  /** Of those that come after it, for as long as all is looked at. */
  private static final Duration LONG = Duration.ofSeconds(30);

  private CompareHolders() {}

  static CompareCells crash(CompareLock lock) throws Exception {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager others = lock.open(nodes.uris());
        CompareHolder holder = CompareHolder.start(lock, nodes.uris(), NAME)) {
      holder.awaitHeld();
      Stopwatch killed = Stopwatch.started();
      holder.kill();
      others.acquire(next());
      return CompareCells.unavailable(killed.elapsed());
    }
  }

  static CompareCells slow(CompareLock lock) throws Exception {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager others = lock.open(nodes.uris());
        LockManager third = lock.open(nodes.uris());
        CompareHolder holder = CompareHolder.start(lock, nodes.uris(), NAME)) {
      holder.awaitHeld();
      Stopwatch stopped = Stopwatch.started();
      holder.freeze();
      Lease second = others.acquire(next());
      Duration unavailable = stopped.elapsed();
      holder.thaw();
      boolean believes = holder.isHeld();
      boolean two = believes && second.isHeld();
      holder.release();
      Optional<Lease> another = third.tryAcquire(LockRequest.of(NAME, LONG));
      two |= another.isPresent() && CompareJudge.bothHeld(second, another.get());
      if (!second.isHeld()) {
        throw Comparison.notMeasured("the machine stood still");
      }
      return CompareCells.twoOwners(two).withHolderKnows(!believes).withUnavailable(unavailable);
    }
  }

  private static LockRequest next() {
    return LockRequest.of(NAME, LONG).waitAtMost(LONG);
  }
}
