package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What others see of a lock, and what they can do to it. */
@ForEachBackend
class OperatorsTest {
  private final Cluster cluster;
  private final LockManager locks;
  private final LockManager operator;
  private final int nodes;

  OperatorsTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open("owner=worker 7");
    operator = cluster.open();
    nodes = Math.max(1, cluster.nodes().size());
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("INSP-1")
  void inspectShowsWhoHoldsForHowLongAndHowManyNodesAgree() throws InterruptedException {
    assertThat(operator.inspect("job")).isEmpty();
    Lease lease = locks.tryAcquire("job", Cluster.TTL).orElseThrow();

    LockStatus status = operator.inspect("job").orElseThrow();

    assertThat(status.name()).isEqualTo("job");
    assertThat(status.owner()).isEqualTo("worker 7");
    assertThat(status.remaining()).isBetween(Cluster.TTL.minusSeconds(10), Cluster.TTL);
    assertThat(status.nodes()).isEqualTo(nodes);
    assertThat(status.agreeing()).isBetween(nodes / 2 + 1, nodes);
    assertThat(lease.release()).isTrue();
    Eventually.soon().until(() -> operator.inspect("job").isEmpty());
  }

  @Test
  @Rule("INSP-1")
  void theLabelIsThatOfTheRequestOrElseOfTheManagerOrElseOfTheProcess()
      throws InterruptedException {
    LockRequest request = LockRequest.of("job", Cluster.TTL);
    try (Lease lease = locks.tryAcquire(request.owner("batch: 8")).orElseThrow()) {
      assertThat(operator.inspect("job")).map(LockStatus::owner).hasValue("batch: 8");
      lease.requireHeld();
    }
    try (Lease lease = operator.acquire(request.waitAtMost(Duration.ofSeconds(5)))) {
      assertThat(locks.inspect("job"))
          .map(LockStatus::owner)
          .hasValueSatisfying(
              owner -> assertThat(owner).endsWith(":" + ProcessHandle.current().pid()));
      lease.requireHeld();
    }
  }

  @Test
  @Rule("INSP-2")
  void forceReleaseFreesTheNameAndTellsWhetherThereWasSomething() throws InterruptedException {
    assertThat(operator.forceRelease("job")).isFalse();
    Lease lease = locks.tryAcquire("job", Cluster.TTL).orElseThrow();

    assertThat(operator.forceRelease("job")).isTrue();

    assertThat(operator.inspect("job")).isEmpty();
    Lease next = operator.tryAcquire("job", Cluster.TTL).orElseThrow();
    assertThat(lease.release()).isFalse();
    assertThat(next.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("ACQ-11")
  void aLeaseThatIsReleasedEarlyKeepsOthersOutForAsLongAsItAskedFor() throws InterruptedException {
    Duration atLeast = Duration.ofMillis(700);
    long start = System.nanoTime();
    Lease lease =
        locks.tryAcquire(LockRequest.of("job", Cluster.TTL).holdAtLeast(atLeast)).orElseThrow();

    assertThat(lease.release()).isTrue();
    assertThat(lease.isHeld()).isFalse();
    assertThat(operator.tryAcquire("job", Cluster.TTL)).isEmpty();
    assertThat(locks.tryAcquire("job", Cluster.TTL)).isEmpty();

    Lease next =
        operator.acquire(LockRequest.of("job", Cluster.TTL).waitAtMost(Duration.ofSeconds(10)));
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(atLeast, atLeast.plusSeconds(1));
    assertThat(next.release()).isTrue();
  }

  @Test
  @Rule("ACQ-11")
  void aLeaseThatIsReleasedLaterThanThatIsFreeAtOnce() throws InterruptedException {
    Duration atLeast = Duration.ofMillis(200);
    Lease lease =
        locks.tryAcquire(LockRequest.of("job", Cluster.TTL).holdAtLeast(atLeast)).orElseThrow();
    long granted = System.nanoTime();
    Eventually.soon().until(() -> System.nanoTime() - granted > atLeast.toNanos());

    assertThat(lease.release()).isTrue();

    Lease next = operator.tryAcquire("job", Cluster.TTL).orElseThrow();
    assertThat(next.release()).isTrue();
    cluster.awaitNoLocks();
  }
}
