package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every subset of five nodes is at fault: the lock is got exactly when a quorum grants it. */
@ForEachDriver
class SubsetsTest {
  private static final int QUORUM = 3;

  private final Cluster cluster;

  SubsetsTest(Backend backend) {
    cluster = Cluster.of(backend);
    cluster.nodes().forEach(Fault::allow);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  @Rule({"ACQ-2", "ACQ-3", "ACQ-4", "ACQ-9", "ERR-1", "ERR-2", "ERR-5", "ERR-6", "FAULT-1"})
  void theLockIsGotExactlyWhenAQuorumGrantsIt(Fault fault) throws InterruptedException {
    if (fault == Fault.NO_PASSWORD) {
      cluster.assumeScripts("the user without has a password");
    }
    LockManager shared = open(fault);
    for (List<TestNode> broken : Subsets.of(cluster.nodes())) {
      LockManager locks = shared;
      if (fault == Fault.DEAD) {
        locks = open(fault); // which spares this test the second that a reconnect may take
      }
      String name = "lock with " + broken;
      broken.forEach(node -> fault.begin(node, name));
      if (fault.isSeenOnConnecting()) {
        locks = open(fault, "connect=lazy");
      }
      List<TestNode> sound = new ArrayList<>(cluster.nodes());
      sound.removeAll(broken);

      if (sound.size() >= QUORUM) {
        isGranted(locks, name, sound);
      } else {
        isNotGranted(fault, locks, name, broken);
      }

      Eventually.soon().untilAsserted(() -> assertNothingIsLeft(name, sound));
      if (fault.isForeignKey()) {
        assertThat(broken).allSatisfy(node -> fault.assertUntouched(node, name));
      }
      broken.parallelStream().forEach(node -> fault.end(node, name));
      Eventually.soon().untilAsserted(() -> assertNothingIsLeft(name, cluster.nodes()));
      if (locks != shared) {
        locks.close();
      }
    }
  }

  private LockManager open(Fault fault, String... more) {
    List<String> options = new ArrayList<>(List.of(more));
    if (fault == Fault.FROZEN) {
      options.add("nodeTimeout=150ms");
    }
    return cluster.openAt(
        cluster.nodes().stream().map(fault::uri).toList(), options.toArray(String[]::new));
  }

  private static void isGranted(LockManager locks, String name, List<TestNode> sound)
      throws InterruptedException {
    Lease lease = locks.tryAcquire(name, Cluster.TTL).orElseThrow();
    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(sound)
                    .extracting(node -> Cluster.value(node, name))
                    .containsOnly(lease.token()));
    assertThat(lease.release()).as("release of %s", name).isTrue();
  }

  private static void isNotGranted(
      Fault fault, LockManager locks, String name, List<TestNode> broken)
      throws InterruptedException {
    switch (fault.outcome()) {
      case CONTENDED -> {
        assertThat(locks.tryAcquire(name, Cluster.TTL)).as(name).isEmpty();
        LockUnavailableException contended =
            catchThrowableOfType(
                LockUnavailableException.class, () -> acquireWithoutWaiting(locks, name));
        assertThat(contended).as(name).hasMessageContaining(name);
        assertThat(contended.refused()).isBetween(QUORUM, broken.size());
      }
      case OUTAGE -> {
        LockBackendException outage =
            catchThrowableOfType(
                LockBackendException.class, () -> acquireWithoutWaiting(locks, name));
        assertThat(outage).as(name).hasMessageContaining(name);
        assertThat(outage.failures().keySet())
            .as(name)
            .containsExactlyElementsOf(broken.stream().map(TestNode::address).toList());
        assertThat(outage.failures().values())
            .as(name)
            .allSatisfy(cause -> assertThat(cause).hasMessageContaining(fault.says()));
        assertThat(outage.outcomeUnknown()).isFalse();
      }
      case MISCONFIGURED -> {
        LockConfigurationException misconfigured =
            catchThrowableOfType(
                LockConfigurationException.class, () -> acquireWithoutWaiting(locks, name));
        assertThat(misconfigured).as(name).hasMessageContaining(fault.says());
        assertThat(broken)
            .filteredOn(node -> String.valueOf(misconfigured.getMessage()).contains(node.address()))
            .as("named by %s", misconfigured)
            .hasSizeBetween(fault == Fault.WRONG_TYPE ? QUORUM : broken.size(), broken.size());
      }
    }
  }

  private static Lease acquireWithoutWaiting(LockManager locks, String name)
      throws InterruptedException {
    return locks.acquire(LockRequest.of(name, Cluster.TTL).waitAtMost(Duration.ZERO));
  }

  private static void assertNothingIsLeft(String name, List<TestNode> sound) {
    assertThat(sound)
        .allSatisfy(node -> assertThat(Cluster.locksOn(node)).as("%s on %s", name, node).isEmpty());
  }
}
