package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.cli.process.Stopwatch;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * The scenario of several clients, each with a manager of its own, that want one lock all the time.
 */
final class CompareContention {
  private static final String NAME = "compare";
  private static final int CLIENTS = 8;
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration WAIT = Duration.ofMillis(500);
  private static final long HOLD_NANOS = 1_000_000;
  private static final Duration WARM_UP = Duration.ofMillis(500);

  /** Commands that scripts call, where there are scripts. */
  private static final Set<String> IN_SCRIPTS = Set.of("get", "del", "pttl", "pexpire");

  private static final Set<String> SCRIPTS = Set.of("eval", "evalsha");
  private static final Set<String> OF_LOCKS =
      Set.of("set", "setnx", "get", "getset", "del", "pttl", "pexpire", "eval", "evalsha");

  private final CompareLock lock;
  private final Duration time;
  private final CompareJudge judge = new CompareJudge();

  CompareContention(CompareLock lock, int seconds) {
    this.lock = lock;
    this.time = Duration.ofSeconds(seconds);
  }

  CompareCells measure() throws Exception {
    List<LockManager> clients = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try (TestNodes nodes = TestNodes.start(lock.nodes())) {
      try {
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(lock.open(nodes.uris()));
        }
        contend(threads, clients, WARM_UP);
        nodes.all().forEach(TestNode::resetCommandCounts);
        Stopwatch begun = Stopwatch.started();
        long grants = contend(threads, clients, time);
        double seconds = begun.elapsed().toNanos() / 1e9;
        long commands = nodes.all().stream().mapToLong(CompareContention::requests).sum();
        return CompareCells.contention(
            judge.hasSeenTwoOwners(), grants / seconds, (double) commands / Math.max(1, grants));
      } finally {
        clients.forEach(LockManager::close);
      }
    } finally {
      threads.shutdown();
    }
  }

  private long contend(ExecutorService threads, List<LockManager> clients, Duration limit)
      throws InterruptedException, ExecutionException {
    Stopwatch begun = Stopwatch.started();
    List<Callable<Long>> work =
        clients.stream()
            .<Callable<Long>>map(client -> () -> grantsUntilOver(client, begun, limit))
            .toList();
    long grants = 0;
    for (Future<Long> each : threads.invokeAll(work)) {
      grants += each.get();
    }
    return grants;
  }

  private long grantsUntilOver(LockManager client, Stopwatch begun, Duration limit)
      throws InterruptedException {
    LockRequest request = LockRequest.of(NAME, TTL).waitAtMost(WAIT);
    long grants = 0;
    while (begun.elapsed().compareTo(limit) < 0) {
      try {
        Lease lease = client.tryAcquire(request).orElse(null);
        if (lease != null) {
          hold(lease);
          grants++;
        }
      } catch (LockOutageException e) {
        // An outage grants nothing, and is seen in the number of grants.
      }
    }
    return grants;
  }

  private void hold(Lease lease) {
    try (lease) {
      judge.begin(lease);
      LockSupport.parkNanos(HOLD_NANOS);
      judge.end(lease);
    }
  }

  /**
   * Returns the number of commands that clients sent. Commands that scripts call, which the server
   * counts as well, are left out.
   */
  private static long requests(TestNode node) {
    Map<String, Long> counts = node.commandCounts();
    boolean scripts = SCRIPTS.stream().anyMatch(counts::containsKey);
    return counts.entrySet().stream()
        .filter(count -> OF_LOCKS.contains(count.getKey()))
        .filter(count -> !scripts || !IN_SCRIPTS.contains(count.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
