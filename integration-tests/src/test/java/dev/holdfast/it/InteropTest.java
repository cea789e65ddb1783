package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Other languages' Redlock clients share the locks. */
@ForEachDriver
class InteropTest {
  private final Cluster cluster;

  InteropTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("INT-1")
  void aForeignClientExcludesUsAndIsExcludedByUs() throws InterruptedException {
    LockManager locks = cluster.open();
    try (ForeignClient foreign = new ForeignClient(cluster.nodes())) {
      assertThat(foreign.tryLock("shared", Cluster.TTL)).isTrue();
      assertThat(locks.tryAcquire("shared", Cluster.TTL)).isEmpty();
      assertThat(locks.inspect("shared").orElseThrow().owner()).isEqualTo(foreign.value());
      assertThat(foreign.unlock("shared")).isEqualTo(5);

      Lease lease = locks.tryAcquire("shared", Cluster.TTL).orElseThrow();
      assertThat(foreign.tryLock("shared", Cluster.TTL)).isFalse();
      assertThat(foreign.unlock("shared")).isZero();
      lease.extend(Cluster.TTL);
      assertThat(lease.release()).isTrue();
      cluster.awaitNoLocks(); // a release is told when a quorum of nodes has answered it

      assertThat(foreign.tryLock("shared", Cluster.TTL)).isTrue();
      assertThat(foreign.unlock("shared")).isEqualTo(5);
    }
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"INT-1", "ACQ-5", "ACQ-7"})
  void whatStandsOnTheNodesIsThePageOfRedlocksWireFormat() throws InterruptedException {
    LockManager locks = cluster.open("keyPrefix=app:");
    String name = " Größe, 数字 ";

    Lease lease = locks.tryAcquire(LockRequest.of(name, Cluster.TTL).owner("me")).orElseThrow();
    assertThat(locks.inspect(name)).map(LockStatus::agreeing).hasValue(5);

    assertThat(lease.token()).matches("me:[0-9a-f]{40}");
    assertThat(cluster.nodes())
        .allSatisfy(
            node -> {
              assertThat(Cluster.locksOn(node)).containsExactly("app:" + name);
              assertThat(Cluster.value(node, "app:" + name)).isEqualTo(lease.token());
              assertThat(Cluster.ttl(node, "app:" + name))
                  .isBetween(Cluster.TTL.minusSeconds(10), Cluster.TTL);
            });
    assertThat(lease.release()).isTrue();
    Lease next = locks.tryAcquire(LockRequest.of(name, Cluster.TTL).owner("me")).orElseThrow();
    assertThat(next.token()).isNotEqualTo(lease.token());
  }

  @Test
  @Rule("ACQ-10")
  void whoeverWaitsGetsALockThatAForeignClientLeftBehindWhenItExpires()
      throws InterruptedException {
    LockManager locks = cluster.open();
    Duration ttl = Duration.ofMillis(700);
    try (ForeignClient foreign = new ForeignClient(cluster.nodes())) {
      long start = System.nanoTime();
      assertThat(foreign.tryLock("left", ttl)).isTrue();

      Lease lease =
          locks.acquire(LockRequest.of("left", Cluster.TTL).waitAtMost(Duration.ofSeconds(10)));

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(ttl.minusMillis(10), ttl.plusSeconds(1));
      assertThat(lease.release()).isTrue();
    }
  }

  @Test
  @Rule({"INT-1", "ACQ-1"})
  void managersAndForeignClientsNeverEnterTogether() throws InterruptedException {
    CriticalSection section = new CriticalSection();
    int rounds = 25;
    try (Workers workers = new Workers()) {
      for (int manager = 0; manager < 2; manager++) {
        LockManager locks = cluster.open();
        workers.start(() -> enterWith(locks, section, rounds));
        workers.start(() -> enterWith(locks, section, rounds));
      }
      for (int client = 0; client < 2; client++) {
        workers.start(() -> enterAsForeigner(section, rounds));
      }
      workers.join();
    }

    section.assertEntered(6 * rounds);
    cluster.awaitNoLocks();
  }

  @UnderLoad
  @Rule({"INT-1", "ACQ-1"})
  void managersAndForeignClientsNeverEnterTogetherUnderLoad() throws InterruptedException {
    managersAndForeignClientsNeverEnterTogether();
  }

  private static void enterWith(LockManager locks, CriticalSection section, int rounds)
      throws InterruptedException {
    for (int i = 0; i < rounds; i++) {
      try (Lease lease = locks.acquire("shared", Cluster.TTL)) {
        lease.requireHeld();
        section.enter();
      }
    }
  }

  private void enterAsForeigner(CriticalSection section, int rounds) {
    try (ForeignClient foreign = new ForeignClient(cluster.nodes())) {
      for (int i = 0; i < rounds; i++) {
        foreign.lock("shared", Cluster.TTL);
        section.enter();
        assertThat(foreign.unlock("shared")).isGreaterThanOrEqualTo(3);
      }
    }
  }
}
