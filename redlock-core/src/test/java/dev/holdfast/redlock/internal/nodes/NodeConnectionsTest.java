package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.testsupport.FullDisk;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connecting, checking and what is logged of nodes, in a time that the test moves. */
class NodeConnectionsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  @AutoClose private final Logs logs = new Logs();

  @Test
  @Rule("OPEN-1")
  @DisplayName("a node is reconnected although a logger throws as it goes down")
  void nodeIsReconnectedAlthoughALoggerThrows() {
    open();
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    FullDisk.during(
        Redlock.class,
        () -> {
          try {
            nodes.breakConnection(2);
            time.advance(SECOND);
          } catch (IllegalStateException thrown) {
            assertThat(thrown).hasMessage(FullDisk.MESSAGE);
          }
        });
    int before = nodes.connects().size();
    time.advance(SECOND.multipliedBy(3));

    assertThat(nodes.connects().size()).isGreaterThan(before);
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("commands that are held back are failed although a logger throws")
  void commandsThatAreHeldBackAreFailedAlthoughALoggerThrows() {
    LockManager locks = open();
    for (int node = 0; node < 3; node++) {
      nodes.unreachable(node, new IllegalStateException("connection refused"));
      nodes.breakConnection(node);
    }
    var lease = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    FullDisk.during(
        Redlock.class,
        () -> {
          try {
            time.advance(Duration.ZERO);
          } catch (IllegalStateException thrown) {
            assertThat(thrown).hasMessage(FullDisk.MESSAGE);
          }
        });

    assertThat(lease).isCompletedExceptionally();
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("a minority that is down is logged once and tried every second, forever")
  void aMinorityThatIsDownIsTriedForever() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    open();
    time.advance(Duration.ofSeconds(60));

    assertThat(nodes.connects()).filteredOn(node -> node == 2).hasSize(61);
    assertThat(logs.messages())
        .containsExactly(
            "WARNING node h3:6379 is down: connection refused; trying again every second");
  }

  @Test
  @Rule("FAULT-3")
  @DisplayName("a node that comes back is used within a second, and one line says so")
  void aNodeThatComesBackIsUsed() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    LockManager locks = open();
    nodes.unreachable(2, null);
    time.advance(SECOND);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));

    assertThat(nodes.take()).hasSize(3);
    assertThat(logs.messages()).hasSize(2).last().isEqualTo("INFO node h3:6379 is back");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("without a quorum, opening fails and names each node and cause")
  void withoutAQuorumOpeningFails() {
    nodes.unreachable(1, new IllegalStateException("connection refused"));
    nodes.unreachable(2, new IllegalStateException("no route to host"));

    assertThatThrownBy(this::open)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(
            "1 of 3", "h2:6379: connection refused", "h3:6379: no route to host");
    assertThat(nodes.isClosed()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("the same server twice is a configuration error that names both")
  void theSameServerTwiceIsRefused() {
    nodes.info(2, "run_id:r0\r\nrole:master\r\n");
    assertThatThrownBy(this::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h3:6379", "h1:6379", "same server");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a replica is a configuration error that names its master")
  void aReplicaIsRefused() {
    nodes.info(1, "run_id:x\r\nrole:slave\r\nmaster_host:h9\r\nmaster_port:6379\r\n");
    assertThatThrownBy(this::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h2:6379", "replica of h9:6379");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a node that comes back as the same server as another does not vote")
  void aNodeThatComesBackAsAnotherDoesNotVote() {
    LockManager locks = open();
    nodes.info(2, "run_id:r0\r\nrole:master\r\n");
    nodes.breakConnection(2);
    time.advance(SECOND);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));

    assertThat(nodes.take()).hasSize(2);
    assertThat(logs.messages())
        .singleElement()
        .asString()
        .contains("h3:6379", "same server as h1:6379");
  }

  @Test
  @Rule("OPEN-3")
  @DisplayName("a policy that can evict lock keys is a warning that names node and policy")
  void anEvictingPolicyIsAWarning() {
    nodes.info(0, "run_id:r0\r\nrole:master\r\nmaxmemory_policy:allkeys-lru\r\n");
    open();
    assertThat(logs.messages())
        .singleElement()
        .asString()
        .contains("h1:6379", "allkeys-lru", "noeviction");
  }

  @Test
  @Rule("OPEN-3")
  @DisplayName("the warning comes once for each policy, even if the node reconnects")
  void policyIsWarnedOfOnce() {
    for (String policy : List.of("allkeys-lru", "allkeys-lru", "volatile-ttl")) {
      nodes.info(0, "run_id:r0\r\nrole:master\r\nmaxmemory_policy:" + policy + "\r\n");
      if (nodes.connects().isEmpty()) {
        open();
      } else {
        time.advance(SECOND);
        nodes.breakConnection(0);
        time.advance(Duration.ZERO);
      }
    }
    assertThat(logs.messages()).hasSize(2);
    assertThat(logs.messages().get(0)).contains("allkeys-lru");
    assertThat(logs.messages().get(1)).contains("volatile-ttl");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName(
      "a node that stays down is logged again only for a mistake that a" + " person has to correct")
  void onlyMistakesAreLoggedAgain() {
    for (String cause :
        List.of("connection refused", "no route", "NOAUTH give one", "NOAUTH give one")) {
      nodes.unreachable(2, new IllegalStateException(cause));
      if (nodes.connects().isEmpty()) {
        open();
      } else {
        time.advance(SECOND);
      }
    }
    assertThat(logs.messages()).hasSize(2);
    assertThat(logs.messages().get(0)).contains("connection refused");
    assertThat(logs.messages().get(1)).contains("NOAUTH");
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("each node has a second connection of its own, and the log says so once")
  void eachNodeHasASecondConnectionOfItsOwn() {
    nodes.withoutScripts();
    LockManager locks = open();
    assertThat(nodes.connects()).containsExactly(0, 3, 1, 4, 2, 5);
    nodes.breakConnection(1);
    nodes.breakConnection(5);
    assertThat(nodes.disconnects()).containsExactly(4, 2);
    time.advance(Duration.ZERO);
    assertThat(nodes.connects()).endsWith(1, 4, 2, 5);
    assertThat(logs.messages())
        .hasSize(3)
        .allMatch(line -> line.contains("run no scripts"))
        .anyMatch(line -> line.contains("h3:6379"));

    var lease = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.pending()).extracting(Asked::node).containsExactly(0, 1, 2);
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    lease.join().orElseThrow().releaseAsync();
    assertThat(nodes.take()).extracting(Asked::node).containsExactly(3, 3, 3, 4, 4, 4, 5, 5, 5);
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName(
      "the log names the end of the quarantine of a node that is back" + " without its data")
  void quarantineIsLoggedWithItsEnd() {
    nodes.firstError(2, "QUARANTINE 1 3000 57000 0 0 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true));
    assertThat(logs.messages())
        .singleElement()
        .asString()
        .contains("WARNING", "h3:6379", "without its data 3 s ago", "in 57 s");
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("the log says how to let a new node vote")
  void logSaysHowToLetNewNodesVote() {
    nodes.firstError(2, "QUARANTINE 1 0 60000 0 1 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true));
    assertThat(logs.messages())
        .singleElement()
        .asString()
        .contains("WARNING", "h3:6379", "if all nodes are new: holdfast nodes init");
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("if new nodes are trusted, the log warns only of the option")
  void trustedNewNodesAreNotLogged() {
    nodes.firstError(2, "QUARANTINE 1 0 60000 0 1 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true).connectLazily().trustNewNodes())
        .tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(logs.messages()).singleElement().asString().contains("WARNING", "newNodes=trust: ");
  }

  @Test
  @Rule("OPEN-4")
  @DisplayName("connect=lazy connects at the first request")
  void lazyConnectsAtTheFirstRequest() {
    LockManager locks = Redlock.open(nodes, time.plainOptions().connectLazily());
    assertThat(nodes.connects()).isEmpty();
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
    assertThat(nodes.take()).hasSize(3);
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a closed manager connects no more")
  void aClosedManagerConnectsNoMore() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    LockManager locks = open();
    locks.close();
    time.advance(Duration.ofSeconds(10));
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
    assertThat(nodes.isClosed()).isTrue();
  }

  private LockManager open() {
    return Redlock.open(nodes, time.plainOptions());
  }
}
