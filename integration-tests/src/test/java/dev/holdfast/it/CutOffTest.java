package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockManager;
import dev.holdfast.it.Proxy.Fate;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The connection to a node breaks in the midst of a command: what is sent again, and what not. */
@ForEachDriver
class CutOffTest {
  private static final String SCRIPT = "EVAL";

  private final Cluster cluster;
  private final TestNode node;
  private final Proxy proxy;

  /** Three nodes, the last of which can be cut off. */
  CutOffTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
    node = cluster.node(2);
    proxy = Proxy.before(node);
  }

  @AfterEach
  void close() {
    cluster.close();
    proxy.close();
  }

  @Test
  @Rule({"FAULT-4", "REL-6"})
  void aSetWhoseReplyIsLostIsNeverSentAgain() throws InterruptedException {
    LockManager locks = cluster.openAt(List.of(proxy.uri()));
    node.resetCommandCounts();
    proxy.on("SET ", Fate.PASS_AND_CUT);

    assertThatThrownBy(() -> locks.tryAcquire("cut", Cluster.TTL))
        .isInstanceOf(LockBackendException.class);

    proxy.mend();
    Cluster.awaitVoteOf(node, locks);
    assertThat(proxy.seen("SET cut ")).isEqualTo(1);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("FAULT-4")
  void aSetThatIsCutOffIsNeverSentAgain() throws InterruptedException {
    LockManager locks = cluster.openAt(List.of(proxy.uri()));
    proxy.on("SET ", Fate.CUT);

    assertThatThrownBy(() -> locks.tryAcquire("cut", Cluster.TTL))
        .isInstanceOf(LockBackendException.class);

    proxy.mend();
    Cluster.awaitVoteOf(node, locks);
    assertThat(proxy.seen("SET cut ")).isEqualTo(1);
    assertThat(Cluster.locksOn(node)).isEmpty();
  }

  @Test
  @Rule("FAULT-4")
  void whatIsAskedWhileANodeIsAwayIsNotSentLater() throws InterruptedException {
    LockManager locks = cluster.openAt(List.of(proxy.uri()));
    proxy.cut();
    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> locks.tryAcquire("away", Cluster.TTL))
          .isInstanceOf(LockBackendException.class);
    }

    proxy.mend();
    Cluster.awaitVoteOf(node, locks);
    assertThat(proxy.seen("SET away ")).isLessThanOrEqualTo(1); // the one that found it gone
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"FAULT-4", "EXT-4"})
  void anExtensionWhoseReplyIsLostIsNeverSentAgainAndTheLeaseIsStillHeld()
      throws InterruptedException {
    cluster.assumeScripts("the proxy knows an extension by EVALSHA");
    LockManager locks = cluster.openAt(List.of(proxy.uri()));
    Lease lease = locks.tryAcquire("cut", Cluster.TTL).orElseThrow();
    lease.extend(Cluster.TTL); // so that the node knows the script
    long before = proxy.seen("EVALSHA");
    proxy.on(SCRIPT, Fate.PASS_AND_CUT);

    assertThatThrownBy(() -> lease.extend(Cluster.TTL.multipliedBy(2)))
        .isInstanceOfSatisfying(
            LockBackendException.class, e -> assertThat(e.outcomeUnknown()).isTrue());

    Eventually.soon().until(() -> Cluster.ttl(node, "cut").compareTo(Cluster.TTL) > 0);
    proxy.mend();
    Eventually.soon()
        .ignoreExceptionsInstanceOf(LockBackendException.class)
        .until(() -> locks.inspect("cut").isPresent());
    assertThat(proxy.seen("EVALSHA") - before).as("extend once, inspect once").isEqualTo(2);
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule({"ACQ-3", "REL-6"})
  void theKeyOfAFailedAttemptIsRemovedWhereItsReleaseWasLostOnceTheNodeIsBack()
      throws InterruptedException {
    cluster.assumeScripts("the proxy knows a release by EVAL");
    LockManager locks = cluster.openAt(withProxy(), "nodeTimeout=150ms");
    Cluster.occupy(cluster.node(0), "owed");
    Cluster.occupy(cluster.node(1), "owed");
    proxy.on(SCRIPT, Fate.LOSE);

    assertThat(locks.tryAcquire("owed", Cluster.TTL)).isEmpty();
    Eventually.soon().until(() -> Cluster.value(node, "owed") != null);
    proxy.cut();
    assertThat(Cluster.value(node, "owed")).isNotNull();

    proxy.mend();
    Eventually.soon().until(() -> Cluster.value(node, "owed") == null);
  }

  @Test
  @Rule("REL-6")
  void theKeyOfALeaseIsRemovedWhereItsReleaseWasLostOnceTheNodeIsBack()
      throws InterruptedException {
    cluster.assumeScripts("the proxy knows a release by EVAL");
    LockManager locks = cluster.openAt(withProxy());
    Lease lease = locks.tryAcquire("owed", Cluster.TTL).orElseThrow();
    proxy.on(SCRIPT, Fate.LOSE);

    assertThat(lease.release()).isTrue();
    assertThat(Cluster.locksOn(node)).containsExactly("owed");

    proxy.cut();
    proxy.mend();
    Eventually.soon().until(() -> Cluster.value(node, "owed") == null);
  }

  @Test
  @Rule({"REL-1", "REL-6"})
  void aReleaseThatWasOwedSparesTheKeyOfTheNextOwner() throws InterruptedException {
    LockManager locks = cluster.openAt(withProxy());
    Lease lease = locks.tryAcquire("owed", Cluster.TTL).orElseThrow();
    proxy.on(SCRIPT, Fate.LOSE);
    assertThat(lease.release()).isTrue();
    proxy.cut();
    long before = proxy.seen(SCRIPT);

    Cluster.occupy(node, "owed");
    proxy.mend();

    Eventually.soon().until(() -> proxy.seen(SCRIPT) > before);
    Cluster.awaitVoteOf(node, locks);
    Fault.OCCUPIED.assertUntouched(node, "owed");
  }

  @Test
  @Rule("ACQ-10")
  void whatNobodyCanRemoveIsGoneWithItsTtl() throws InterruptedException {
    cluster.assumeScripts("the proxy knows a release by EVAL");
    Duration ttl = Duration.ofSeconds(1);
    LockManager locks = cluster.openAt(withProxy(), "nodeTimeout=150ms");
    Lease lease = locks.tryAcquire("orphan", ttl).orElseThrow();
    proxy.on(SCRIPT, Fate.LOSE);
    assertThat(lease.release()).isTrue();
    assertThat(Cluster.locksOn(node)).containsExactly("orphan");
    locks.close();

    Eventually.within(ttl.plusSeconds(1)).until(() -> Cluster.value(node, "orphan") == null);
  }

  private List<String> withProxy() {
    List<String> uris = new ArrayList<>(cluster.nodes().stream().map(TestNode::uri).toList());
    uris.set(node.index(), proxy.uri());
    return uris;
  }
}
