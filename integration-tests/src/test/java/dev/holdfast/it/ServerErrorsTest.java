package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Error replies of redis-servers are recognised, and reported in their words. */
@ForEachDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class ServerErrorsTest {
  private final Cluster cluster;

  ServerErrorsTest(Backend backend) {
    cluster = Cluster.of(backend);
    cluster.nodes().forEach(Fault::allow);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  @Rule({"FAULT-1", "ACQ-3"})
  void aFaultOnAMinorityPreventsNoGrant(Fault fault) throws InterruptedException {
    assume(fault);
    List<TestNode> broken = cluster.nodes().subList(0, 2);
    List<TestNode> sound = cluster.nodes().subList(2, 5);
    LockManager locks = openAmid(fault, broken);

    Lease lease = locks.tryAcquire("lock", Cluster.TTL).orElseThrow();

    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(sound)
                    .extracting(node -> Cluster.value(node, "lock"))
                    .containsOnly(lease.token()));
    assertThat(lease.release()).isTrue();
    Eventually.soon().until(() -> sound.stream().allMatch(n -> Cluster.locksOn(n).isEmpty()));
    broken.forEach(node -> fault.assertUntouched(node, "lock"));
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  @Rule({"ERR-1", "ERR-2", "ACQ-3", "ACQ-9"})
  void aFaultOnAMajorityIsReportedByItsKind(Fault fault) throws InterruptedException {
    assume(fault);
    List<TestNode> broken = cluster.nodes().subList(0, 3);
    List<TestNode> sound = cluster.nodes().subList(3, 5);
    LockManager locks = openAmid(fault, broken);

    if (fault.isMistake()) {
      LockConfigurationException mistake =
          catchThrowableOfType(
              LockConfigurationException.class, () -> acquireWithoutWaiting(locks));
      assertThat(mistake).hasMessageContaining(fault.says());
      assertThat(broken)
          .allSatisfy(node -> assertThat(mistake).hasMessageContaining(node.address()));
    } else {
      LockOutageException outage =
          catchThrowableOfType(LockOutageException.class, () -> acquireWithoutWaiting(locks));
      assertThat(outage.failures().keySet())
          .containsExactlyElementsOf(broken.stream().map(TestNode::address).toList());
      assertThat(outage.failures().values())
          .allSatisfy(cause -> assertThat(cause).hasMessageContaining(fault.says()));
      assertThat(outage.isOutcomeUnknown()).isFalse();
    }

    Eventually.soon().until(() -> sound.stream().allMatch(n -> Cluster.locksOn(n).isEmpty()));
    broken.forEach(node -> fault.assertUntouched(node, "lock"));
  }

  private void assume(Fault fault) {
    if (fault == Fault.NO_PASSWORD) {
      cluster.assumeScripts("the user without has a password");
    }
  }

  private LockManager openAmid(Fault fault, List<TestNode> broken) {
    List<String> uris = cluster.nodes().stream().map(fault::uri).toList();
    if (fault.isSeenOnConnecting()) {
      broken.forEach(node -> fault.begin(node, "lock"));
      return cluster.openAt(uris, "connect=lazy");
    }
    LockManager locks = cluster.openAt(uris);
    broken.forEach(node -> fault.begin(node, "lock"));
    return locks;
  }

  private static Lease acquireWithoutWaiting(LockManager locks) throws InterruptedException {
    return locks.acquire(LockRequest.of("lock", Cluster.TTL).waitAtMost(Duration.ZERO));
  }
}
