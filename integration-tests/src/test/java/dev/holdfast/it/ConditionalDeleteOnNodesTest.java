package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Rule;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A user without scripts on servers that compare and delete by one command. */
@ForEachDriver
class ConditionalDeleteOnNodesTest {
  private final Backend backend;
  private final Cluster cluster;
  private final LockManager locks;

  ConditionalDeleteOnNodesTest(Backend backend) {
    this.backend = backend;
    cluster = Cluster.of(backend, 3);
    locks = cluster.open();
  }

  @BeforeEach
  void assumeSuchServers() {
    assumeThat(backend.runsScripts()).as("a user with scripts needs no such command").isFalse();
    assumeThat(
            cluster.node(0).command("COMMAND", "INFO", "DELEX", "DELIFEQ") instanceof List<?> known
                && known.stream().anyMatch(List.class::isInstance))
        .as("Redis 8.4 and Valkey 9 have such a command")
        .isTrue();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  void aReleaseTakesNoTransaction() throws InterruptedException {
    locks.acquire("first", Cluster.TTL).close(); // finds the command
    cluster.awaitNoLocks(); // a quorum is enough for close()
    cluster.nodes().forEach(node -> node.command("CONFIG", "RESETSTAT"));

    assertThat(locks.acquire("second", Cluster.TTL).release()).isTrue();

    cluster.awaitNoLocks();
    assertThat(cluster.nodes())
        .extracting(node -> String.valueOf(node.command("INFO", "commandstats")))
        .allSatisfy(counts -> assertThat(counts).containsPattern("cmdstat_del(ex|ifeq):calls=1,"))
        .allSatisfy(counts -> assertThat(counts).doesNotContain("cmdstat_multi:"));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-2")
  void theKeyOfAnotherOwnerStays() throws InterruptedException {
    Lease lease = locks.acquire("lock", Cluster.TTL);
    for (TestNode node : cluster.nodes()) {
      node.command("SET", "lock", "another", "PX", "60000");
    }

    assertThat(lease.release()).isFalse();

    assertThat(cluster.nodes())
        .allSatisfy(node -> assertThat(Cluster.value(node, "lock")).isEqualTo("another"));
  }

  @Test
  @Rule("REL-8")
  void aLockIsReleasedThoughTheMemoryOfItsNodesIsFull() throws InterruptedException {
    Lease lease = locks.acquire("lock", Cluster.TTL);
    cluster.nodes().forEach(node -> node.command("CONFIG", "SET", "maxmemory", "1"));

    assertThat(lease.release()).isTrue();

    cluster.awaitNoLocks();
  }
}
