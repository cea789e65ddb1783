package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.rules.Stalls;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Failures of nodes that the kit leaves open: how little it costs. */
@ForEachDriver
class OutagesTest {
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final Duration ALLOWANCE = Duration.ofMillis(20);
  private static final int TRIES = 5;

  private final Cluster cluster;

  OutagesTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("FAULT-2")
  void oneNodeThatFreezesInMidRunHoldsUpNoCall(TestReporter reporter) throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=50ms");
    Slice slice = sliceWithOneFrozen(locks);
    for (int i = 1; i < TRIES && !slice.isInTime(); i++) {
      // a machine that stalls strikes one of them, a lock that is held up each
      slice = sliceWithOneFrozen(locks);
    }

    reporter.publishEntry("with one of five frozen", slice.toString());
    assertThat(slice.count()).isGreaterThan(100);
    assertThat(slice.failed()).isLessThanOrEqualTo(slice.mayFail());
    assertThat(slice.p99()).isLessThan(NODE_TIMEOUT);
    assertThat(slice.longestButOne()).isLessThan(NODE_TIMEOUT.plus(ALLOWANCE).plus(slice.stall()));
  }

  private Slice sliceWithOneFrozen(LockManager locks) throws InterruptedException {
    callsFor(Duration.ofMillis(500), locks, new ArrayList<>());
    List<Duration> calls = new ArrayList<>();
    try (Stalls stalls = Stalls.watched()) {
      cluster.node(2).freeze();
      // long enough for the driver to give the connection up and to try others, which hang too
      int failed = callsFor(Duration.ofMillis(2_500), locks, calls);
      Collections.sort(calls);
      return new Slice(
          calls.size(),
          failed,
          calls.get(calls.size() * 99 / 100),
          calls.get(calls.size() - 2), // a busy machine strikes one now and then
          stalls.worst());
    } finally {
      cluster.node(2).thaw();
    }
  }

  /** How long calls took, and how long the machine kept a thread waiting meanwhile. */
  private record Slice(
      int count, int failed, Duration p99, Duration longestButOne, Duration stall) {
    /** A few, on a machine that stalls. */
    int mayFail() {
      return 1 + count / 100;
    }

    boolean isInTime() {
      return failed <= mayFail()
          && p99.compareTo(NODE_TIMEOUT) < 0
          && longestButOne.compareTo(NODE_TIMEOUT.plus(ALLOWANCE).plus(stall)) < 0;
    }
  }

  @Test
  @Rule({"FAULT-1", "REL-3"})
  void aReleaseNeedsNoMemoryAndNoMinority() throws InterruptedException {
    cluster.assumeScripts("Redis queues no command of a transaction when its memory is full");
    LockManager locks = cluster.open("nodeTimeout=500ms");
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    cluster.nodes().forEach(node -> Fault.OUT_OF_MEMORY.begin(node, "held"));
    cluster.node(0).freeze();
    cluster.node(1).kill();

    lease.extend(Cluster.TTL);
    assertThat(lease.release()).isTrue();

    cluster.node(0).thaw();
    Eventually.soon()
        .until(
            () ->
                cluster.nodes().stream()
                    .filter(node -> node != cluster.node(1))
                    .allMatch(node -> Cluster.locksOn(node).isEmpty()));
  }

  /** Notes how long each acquire and each release takes, and returns how many failed. */
  private static int callsFor(Duration time, LockManager locks, List<Duration> calls)
      throws InterruptedException {
    int failed = 0;
    long end = System.nanoTime() + time.toNanos();
    for (int i = 0; System.nanoTime() < end; i++) {
      long start = System.nanoTime();
      Optional<Lease> lease = Optional.empty();
      try {
        lease = locks.tryAcquire("call " + i, Cluster.TTL);
      } catch (LockOutageException e) {
        failed++;
      }
      long acquired = System.nanoTime();
      calls.add(Duration.ofNanos(acquired - start));
      lease.ifPresent(Lease::close);
      calls.add(Duration.ofNanos(System.nanoTime() - acquired));
    }
    return failed;
  }
}
