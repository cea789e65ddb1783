package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.rules.CriticalSection;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Other languages' Redlock clients share the locks, by the wire format of the page of Redlock. */
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
  @Tag("exclusion")
  @Rule({"INT-1", "ACQ-5", "ACQ-7"})
  void theKeysOnTheNodesHaveTheFormatOfTheDocs() throws InterruptedException {
    LockManager locks = cluster.open("keyPrefix=app:");
    String name = " Größe, 数字 ";

    Lease lease =
        locks.tryAcquire(LockRequest.of(name, Cluster.TTL).ownerLabel("me")).orElseThrow();
    assertThat(locks.inspect(name)).map(status -> status.votes().granted()).hasValue(5);

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
    Lease next = locks.tryAcquire(LockRequest.of(name, Cluster.TTL).ownerLabel("me")).orElseThrow();
    assertThat(next.token()).isNotEqualTo(lease.token());
  }

  @Test
  @Tag("exclusion")
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

    assertThat(section.entries()).isEqualTo(6 * rounds);
    section.assertNeverTwo();
    cluster.awaitNoLocks();
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
