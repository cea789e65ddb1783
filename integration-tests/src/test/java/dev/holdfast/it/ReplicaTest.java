package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node is a replica for some time, while a manager is open. */
@ForOneDriver
class ReplicaTest {
  private final Cluster cluster;

  ReplicaTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Tag("exclusion")
  @Rule({"OPEN-2", "FAULT-3"})
  void aNodeThatBecameAReplicaWhileItWasAwayDoesNotVote() throws InterruptedException {
    LockManager locks = cluster.open();
    TestNode replica = cluster.node(3);
    try (Logs logs = new Logs()) {
      replica.command("REPLICAOF", replica.host(), "1");
      replica.command("CLIENT", "KILL", "TYPE", "normal");
      Eventually.soon()
          .until(
              () -> logs.messages().stream().anyMatch(line -> line.contains("it is a replica of")));
    }
    replica.resetCommandCounts();
    try (Lease lease = locks.tryAcquire("four vote", Cluster.TTL).orElseThrow()) {
      lease.requireHeld();
    }
    assertThat(replica.commandCounts()).doesNotContainKeys("set", "eval", "evalsha");
    replica.command("REPLICAOF", "NO", "ONE");
    Cluster.awaitVoteOf(replica, locks);
  }
}
