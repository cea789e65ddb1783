package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Nodes hang or go in mid-run. */
@ForEachDriver
class OutagesTest {
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final Duration ALLOWANCE = Duration.ofMillis(20);

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
    callsFor(Duration.ofMillis(500), locks);
    List<Duration> calls;
    Duration stall;
    try (Stalls stalls = Stalls.watched()) {
      cluster.node(2).freeze();
      // long enough for the driver to give the connection up and to try others, which hang too
      calls = callsFor(Duration.ofMillis(2_500), locks);
      stall = stalls.worst();
    }

    Collections.sort(calls);
    Duration longest = calls.get(calls.size() - 1);
    Duration p99 = calls.get(calls.size() * 99 / 100);
    reporter.publishEntry(
        "with one of five frozen",
        calls.size() + " calls, p99 " + p99 + ", longest " + longest + ", stalled " + stall);
    assertThat(calls).hasSizeGreaterThan(100);
    assertThat(p99).isLessThan(NODE_TIMEOUT);
    assertThat(longest).isLessThan(NODE_TIMEOUT.plus(ALLOWANCE).plus(stall));
  }

  @Test
  @Rule({"WAIT-1", "WAIT-2", "ERR-2", "ACQ-3"})
  void whenAllNodesFreezeAcquireEndsAtItsOwnLimitNamingEachNode() throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=50ms");
    callsFor(Duration.ofMillis(200), locks);
    cluster.nodes().forEach(TestNode::freeze);
    Duration wait = Duration.ofMillis(600);

    try (Stalls stalls = Stalls.watched()) {
      long start = System.nanoTime();
      LockBackendException outage =
          catchThrowableOfType(
              LockBackendException.class,
              () -> locks.acquire(LockRequest.of("frozen", Cluster.TTL).waitAtMost(wait)));
      Duration took = Duration.ofNanos(System.nanoTime() - start);

      assertThat(outage).isNotNull();
      assertThat(outage.failures()).containsOnlyKeys(cluster.addresses());
      assertThat(took)
          .isBetween(wait, wait.plus(NODE_TIMEOUT).plus(ALLOWANCE).plus(stalls.worst()));
    }
    cluster.nodes().forEach(TestNode::thaw);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"ACQ-6", "ERR-2", "ACQ-3"})
  void whenAllNodesFreezeOneAttemptEndsAfterTheirTimeOut() throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=50ms");
    callsFor(Duration.ofMillis(200), locks);
    cluster.nodes().forEach(TestNode::freeze);

    try (Stalls stalls = Stalls.watched()) {
      long start = System.nanoTime();
      LockBackendException outage =
          catchThrowableOfType(
              LockBackendException.class, () -> locks.tryAcquire("frozen", Cluster.TTL));
      Duration took = Duration.ofNanos(System.nanoTime() - start);

      assertThat(outage.failures()).containsOnlyKeys(cluster.addresses());
      assertThat(took).isLessThan(NODE_TIMEOUT.plus(ALLOWANCE).plus(stalls.worst()));
    }
    cluster.nodes().forEach(TestNode::thaw);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"WAIT-5", "FAULT-3"})
  void whoeverWaitsGetsTheLockWhenTheNodesAreBack() throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=100ms");
    cluster.nodes().forEach(TestNode::freeze);

    var lease = locks.tryAcquireAsync(LockRequest.of("later", Cluster.TTL).waitForever());
    TestNode spared = cluster.node(0);
    cluster.nodes().stream().filter(node -> node != spared).forEach(TestNode::thaw);

    Eventually.soon().until(lease::isDone);
    assertThat(lease.join()).isPresent();
  }

  @Test
  @Rule({"REL-2", "REL-4", "ERR-2"})
  void aReleaseThatNoQuorumAnswersIsAnOutageOfUnknownOutcomeAndDoneOnceTheyAnswer()
      throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=100ms");
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    List<TestNode> frozen = cluster.nodes().subList(0, 3);
    frozen.forEach(TestNode::freeze);

    LockBackendException outage = catchThrowableOfType(LockBackendException.class, lease::release);

    assertThat(outage.failures()).containsOnlyKeys(frozen.stream().map(TestNode::address).toList());
    assertThat(outage.outcomeUnknown()).isTrue();
    assertThat(lease.isHeld()).isFalse();
    frozen.forEach(TestNode::thaw);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"EXT-4", "ERR-2"})
  void anExtensionThatNoQuorumAnswersLeavesTheLeaseHeldForWhatItHasLeft()
      throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=100ms");
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    List<TestNode> frozen = cluster.nodes().subList(0, 3);
    frozen.forEach(TestNode::freeze);

    LockBackendException outage =
        catchThrowableOfType(LockBackendException.class, () -> lease.extend(Cluster.TTL));

    assertThat(outage.outcomeUnknown()).isTrue();
    lease.requireHeld();
    frozen.forEach(TestNode::thaw);
    lease.extend(Cluster.TTL);
    assertThat(lease.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"FAULT-1", "REL-3"})
  void aReleaseNeedsNoMemoryAndNoMinority() throws InterruptedException {
    cluster.assumeScripts("Redis queues no command of a transaction when its memory is full");
    LockManager locks = cluster.open("nodeTimeout=100ms");
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

  /** How long each acquire and each release took; a few may fail on a machine that stalls. */
  private static List<Duration> callsFor(Duration time, LockManager locks)
      throws InterruptedException {
    List<Duration> calls = new ArrayList<>();
    int failed = 0;
    long end = System.nanoTime() + time.toNanos();
    for (int i = 0; System.nanoTime() < end; i++) {
      long start = System.nanoTime();
      Optional<Lease> lease = Optional.empty();
      try {
        lease = locks.tryAcquire("call " + i, Cluster.TTL);
      } catch (LockBackendException e) {
        failed++;
      }
      long acquired = System.nanoTime();
      calls.add(Duration.ofNanos(acquired - start));
      lease.ifPresent(Lease::close);
      calls.add(Duration.ofNanos(System.nanoTime() - acquired));
    }
    assertThat(failed).isLessThanOrEqualTo(1 + calls.size() / 100);
    return calls;
  }
}
