package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Tests of what a manager shows of its leases and nodes. */
class NodesAndLeasesTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final LockOutageException outage = new LockOutageException("no quorum", Map.of(), false);
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void heldLocksAreShown() throws Exception {
    Lease lease = manager.acquire(REQUEST.ownerLabel("w").keepAliveUpTo(Duration.ofHours(1)));
    manager.acquire("y", TTL);
    time.advance(Duration.ofSeconds(1));

    HeldLock shown =
        manager.leases().stream().filter(held -> held.name().equals("x")).findAny().orElseThrow();

    Instant now = Instant.EPOCH.plusNanos(time.wallMicros() * 1000);
    assertThat(shown.ownerLabel()).isEqualTo("w");
    assertThat(shown.since()).isEqualTo(now.minusSeconds(1));
    assertThat(shown.remaining()).isEqualTo(TTL.minusSeconds(1));
    assertThat(shown.keptAliveUntil()).contains(now.minusSeconds(1).plusSeconds(3600));
    assertThat(manager.leases())
        .extracting(HeldLock::ownerLabel)
        .containsExactlyInAnyOrder("w", "tester");
    assertThat(lease.release()).isTrue();
    time.passUnnoticed(TTL);
    assertThat(manager.leases()).isEmpty();
  }

  @Test
  void aBackendWithoutNodesShowsOne() throws Exception {
    List<String> changes = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onNode(String node, LockNode.State state, String cause) {
            changes.add(node + " " + state + " " + cause);
          }

          @Override
          public void onVote(String node, Vote vote) {
            changes.add(node + " " + vote);
          }
        });
    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.UNKNOWN);

    assertThat(manager.tryAcquire(REQUEST)).isPresent();
    backend.failing(Op.ATTEMPT, outage);
    assertThatThrownBy(() -> manager.tryAcquire("y", TTL)).isInstanceOf(LockOutageException.class);

    assertThat(manager.nodes()).hasSize(1);
    assertThat(manager.nodes().get(0).state()).isEqualTo(LockNode.State.DOWN);
    assertThat(manager.nodes().get(0).cause()).contains("no quorum");
    assertThat(changes).as("gathered for 10 ms").isEmpty();
    time.advance(Duration.ofMillis(10));
    assertThat(changes)
        .containsExactly(
            "backend UP ", "backend GRANTED", "backend DOWN no quorum", "backend SILENT");
  }

  @Test
  void pingSaysWhetherAQuorumAnswers() {
    assertThat(manager.ping(Duration.ofSeconds(1))).isTrue();
    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.UP);
    backend.failing(Op.INSPECT, outage);
    assertThat(manager.ping(Duration.ofSeconds(1))).isFalse();
    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.DOWN);
    assertThat(manager.nodes().get(0).cause()).isEqualTo("the node did not answer a ping");
    backend.failing(Op.INSPECT, new LockConfigurationException("a password is missing"));
    assertThatThrownBy(() -> manager.ping(Duration.ofSeconds(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("a password is missing");
    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.DOWN);
    backend.healed();
    backend.holdBack(Op.INSPECT);
    assertThat(manager.ping(Duration.ofMillis(1))).as("without an answer").isFalse();
    assertThatThrownBy(() -> manager.ping(Duration.ofMillis(-1)))
        .hasMessageContaining("more than zero");
  }

  @Test
  @Rule("NODES-5")
  @DisplayName("a single node is down while extensions are unanswered, and says why")
  void singleNodeIsDownWhileExtensionsAreUnanswered() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    backend.failing(Op.EXTEND, outage);

    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockOutageException.class);

    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.DOWN);
    assertThat(manager.nodes().get(0).cause()).contains("no quorum");
    backend.healed();
    lease.extend(TTL);
    assertThat(manager.nodes()).extracting(LockNode::state).containsExactly(LockNode.State.UP);
  }

  @Test
  @Rule("NODES-1")
  @DisplayName("the cause of a node that votes again is empty")
  void causeOfASingleNodeIsEmptyOnceItVotesAgain() throws Exception {
    backend.failing(Op.ATTEMPT, new LockConfigurationException("no rights"));
    assertThatThrownBy(() -> manager.tryAcquire("x", TTL))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(manager.nodes()).extracting(LockNode::cause).containsExactly("no rights");

    backend.healed();
    manager.acquire("x", TTL).close();

    assertThat(manager.nodes()).extracting(LockNode::cause).containsExactly("");
  }
}
