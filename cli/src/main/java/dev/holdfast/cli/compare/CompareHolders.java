package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** The scenario of a process that does not release its lock in time. */
final class CompareHolders {
  private static final String NAME = "compare";

  /** The ttl of the holder. */
  static final Duration TTL = Duration.ofSeconds(2);

  /** The ttl of later holders, longer than the scenario. */
  private static final Duration LONG = Duration.ofSeconds(30);

  private CompareHolders() {}

  static CompareCells crash(CompareLock lock) throws Exception {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager others = lock.open(nodes.uris());
        CompareHolder holder = CompareHolder.start(lock, nodes.uris(), NAME)) {
      Instant since = holder.awaitHeld();
      holder.kill();
      others.acquire(next());
      return CompareCells.unavailable(Duration.between(since, Instant.now()));
    }
  }

  static CompareCells slow(CompareLock lock) throws Exception {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager others = lock.open(nodes.uris());
        LockManager third = lock.open(nodes.uris());
        CompareHolder holder = CompareHolder.start(lock, nodes.uris(), NAME)) {
      Instant since = holder.awaitHeld();
      holder.freeze();
      Lease second = others.acquire(next());
      Duration unavailable = Duration.between(since, Instant.now());
      holder.thaw();
      Optional<Boolean> believes = lock.asks() ? Optional.of(holder.isHeld()) : Optional.empty();
      boolean two = believes.orElse(false) && second.isHeld();
      holder.release();
      Optional<Lease> another = third.tryAcquire(LockRequest.of(NAME, LONG));
      two |= another.isPresent() && CompareJudge.bothHeld(second, another.get());
      if (!second.isHeld()) {
        throw Comparison.notMeasured("the machine stood still");
      }
      CompareCells cells = CompareCells.twoOwners(two).withUnavailable(unavailable);
      return believes.map(held -> cells.withHolderKnows(!held)).orElse(cells);
    }
  }

  private static LockRequest next() {
    return LockRequest.of(NAME, LONG).waitAtMost(LONG);
  }
}
