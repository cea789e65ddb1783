package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.benchmarks.SlowProxy;
import dev.holdfast.cli.process.Stopwatch;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The scenarios of a node that comes back without the lock, or is replaced. */
final class CompareNodes {
  private static final String NAME = "compare";

  /** A free lock on the same node. */
  private static final String FREE = "compare:free";

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final long AWAY_MILLIS = 2_000;
  private static final Duration SYNC_LIMIT = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 20;

  /** Some fifty attempts, so that one meets the node that came back. */
  private static final Duration INSISTENCE = Duration.ofSeconds(1);

  private CompareNodes() {}

  static CompareCells death(CompareLock lock) throws Exception {
    try (TestNodes nodes = TestNodes.start(lock.nodes());
        LockManager locks = lock.open(nodes.uris());
        LockManager others = lock.open(nodes.uris())) {
      Lease first = locks.acquire(LockRequest.of(NAME, LONG).waitAtMost(LONG));
      TestNode node = nodes.node(0);
      Stopwatch dead = Stopwatch.started();
      node.kill();
      CompletableFuture<Void> back = CompletableFuture.runAsync(node::restart, later());
      while (grant(others, FREE).isEmpty()) {
        requireWithin(dead, LONG);
      }
      Duration unavailable = dead.elapsed();
      back.get();
      return CompareCells.twoOwners(isGrantedTwice(first, lock, nodes.uris()))
          .withUnavailable(unavailable);
    }
  }

  static CompareCells failover(CompareLock lock) throws Exception {
    try (TestNodes all = TestNodes.start(lock.nodes() + 1);
        SlowProxy link = SlowProxy.before(all.node(0))) {
      TestNode master = all.node(0);
      TestNode replica = all.node(lock.nodes());
      List<String> before = all.uris().subList(0, lock.nodes());
      replicate(master, link, replica);
      link.hold();
      try (LockManager locks = lock.open(before)) {
        Lease first = locks.acquire(LockRequest.of(NAME, LONG).waitAtMost(LONG));
        Stopwatch dead = Stopwatch.started();
        master.kill();
        Optional<Duration> meanwhile = grant(locks, FREE).map(lease -> dead.elapsed());
        replica.command("REPLICAOF", "NO", "ONE");
        List<String> after = new ArrayList<>(before);
        after.set(0, replica.uri());
        Duration unavailable =
            meanwhile.isPresent() ? meanwhile.get() : untilGranted(lock, after, dead);
        return CompareCells.twoOwners(isGrantedTwice(first, lock, after))
            .withUnavailable(unavailable);
      }
    }
  }

  /** Makes a node the master's replica, and returns when it is in step. */
  private static void replicate(TestNode master, SlowProxy link, TestNode replica)
      throws InterruptedException {
    master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    replica.command("REPLICAOF", link.host(), Integer.toString(link.port()));
    Stopwatch begun = Stopwatch.started();
    while (!String.valueOf(replica.command("INFO", "replication"))
        .contains("master_link_status:up")) {
      if (begun.elapsed().compareTo(SYNC_LIMIT) > 0) {
        throw Comparison.notMeasured(replica + " does not get in step with " + master);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private static Duration untilGranted(CompareLock lock, List<String> uris, Stopwatch dead)
      throws InterruptedException {
    try (LockManager locks = lock.open(uris)) {
      locks.acquire(LockRequest.of(FREE, LONG).waitAtMost(LONG)).close();
      return dead.elapsed();
    }
  }

  /** Returns whether another owner gets a lock, and both owners then say that they hold it. */
  private static boolean isGrantedTwice(Lease first, CompareLock lock, List<String> uris)
      throws InterruptedException {
    try (LockManager others = lock.open(uris)) {
      Optional<Lease> second = others.tryAcquire(LockRequest.of(NAME, LONG).waitAtMost(INSISTENCE));
      return second.isPresent() && CompareJudge.bothHeld(first, second.get());
    }
  }

  /** Makes an attempt. Returns empty in an outage, too. */
  private static Optional<Lease> grant(LockManager locks, String name) throws InterruptedException {
    try {
      return locks.tryAcquire(LockRequest.of(name, LONG));
    } catch (LockOutageException e) {
      return Optional.empty();
    }
  }

  private static void requireWithin(Stopwatch time, Duration limit) {
    if (time.elapsed().compareTo(limit) > 0) {
      throw Comparison.notMeasured("no lock was acquired within " + limit.toSeconds() + " s");
    }
  }

  private static Executor later() {
    return CompletableFuture.delayedExecutor(AWAY_MILLIS, TimeUnit.MILLISECONDS);
  }
}
