package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.drivertests.Connections;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A node that returns costs less, and votes sooner, than the kit requires. */
@ForEachDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class ReconnectTest {
  /** The scripts that a node gets when it is connected: for acquiring and for extending. */
  private static final int SCRIPTS_TAUGHT = 2;

  private final Cluster cluster;

  ReconnectTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("FAULT-5")
  void flushingTheScriptsOfAllNodesCostsNoAttempt() throws InterruptedException {
    LockManager locks = cluster.open();
    Attempts attempts = new Attempts(locks);
    attempts.untilRecovered();
    for (int i = 0; i < 20; i++) {
      Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
      onAllNodes("SCRIPT", "FLUSH");
      lease.extend(Cluster.TTL);
      onAllNodes("SCRIPT", "FLUSH");
      assertThat(locks.inspect("held")).isPresent();
      onAllNodes("SCRIPT", "FLUSH");
      assertThat(lease.release()).isTrue();
      onAllNodes("SCRIPT", "FLUSH");
      assertThat(locks.forceRelease("held")).isFalse();
      attempts.untilRecovered();
    }

    assertThat(attempts.failed()).isZero();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("FAULT-5")
  void killingTheConnectionToTheOnlyNodeCostsAtMostOneAttempt() throws InterruptedException {
    TestNode only = cluster.node(0);
    Attempts attempts = new Attempts(cluster.openAt(List.of(only.uri())));
    attempts.untilRecovered();
    AtomicBoolean killed = new AtomicBoolean();
    try (Workers workers = new Workers()) {
      workers.start(
          () -> {
            only.command("CLIENT", "KILL", "TYPE", "normal");
            killed.set(true);
          });
      while (!killed.get()) {
        attempts.once();
      }
      workers.join();
    }
    attempts.untilRecovered();

    assertThat(attempts.failed()).isLessThanOrEqualTo(1);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("FAULT-3")
  void aNodeIsBackWithinTwoSecondsOfItsReturn() throws InterruptedException {
    LockManager locks = cluster.open();
    cluster.node(1).kill();
    Attempts attempts = new Attempts(locks);
    for (int i = 0; i < 10; i++) {
      attempts.once();
    }
    cluster.node(1).restart();
    long start = System.nanoTime();
    Cluster.awaitVoteOf(cluster.node(1), locks);

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
  }

  @Test
  @Rule("CLOSE-4")
  void aNodeThatRefusesThisClientKeepsNoConnectionOfIt() throws InterruptedException {
    cluster.assumeScripts("only nodes with a restart guard refuse a client");
    TestNode refusing = cluster.node(0);
    try (LockManager others = cluster.openAt(List.of(refusing.uri()), "restartGuard=on")) {
      others.acquire("theirs", Cluster.TTL).close();
    }
    refusing.resetCommandCounts();
    LockManager locks = cluster.open("connect=lazy");
    assertThatThrownBy(() -> locks.tryAcquire("ours", Cluster.TTL))
        .isInstanceOf(LockConfigurationException.class);

    Eventually.soon()
        .pollInterval(Duration.ofMillis(50))
        .until(() -> refusing.commandCounts().getOrDefault("eval", 0L) >= 4 * SCRIPTS_TAUGHT);
    Eventually.soon().until(() -> Connections.to(refusing) <= 1);
  }

  private void onAllNodes(String... command) {
    for (TestNode node : cluster.nodes()) {
      node.command(command);
    }
  }

  /** One attempt after the other, without a pause. */
  private static final class Attempts {
    private static final int IN_A_ROW = 50;

    private final LockManager locks;
    private int failed;

    Attempts(LockManager locks) {
      this.locks = locks;
    }

    int failed() {
      return failed;
    }

    boolean once() throws InterruptedException {
      try (Lease lease = locks.tryAcquire("attempt", Cluster.TTL).orElseThrow()) {
        return lease.isHeld();
      } catch (LockOutageException e) {
        failed++;
        return false;
      }
    }

    void untilRecovered() throws InterruptedException {
      long limit = System.nanoTime() + Eventually.LIMIT.toNanos();
      for (int inARow = 0; inARow < IN_A_ROW; inARow = once() ? inARow + 1 : 0) {
        assertThat(System.nanoTime()).as("time").isLessThan(limit);
      }
    }
  }
}
