package dev.holdfast.redlock;

import static dev.holdfast.redlock.ScriptedNodes.grant;
import static dev.holdfast.redlock.ScriptedNodes.refuse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Nodes on which the key of a lock holds another type, message by message. */
class ForeignTypeTest {
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final String WRONG = "WRONGTYPE Operation against a key of the wrong kind";
  private static final String WRONG_ON_REDIS_6 =
      "ERR Error running script (call to f_1): @user_script:1: " + WRONG;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);
  private final LockManager locks = Redlock.open(nodes, time.plainOptions());

  @Test
  @Rule("ACQ-9")
  @DisplayName("keys of another type that alone prevent a quorum are a configuration error")
  void aForeignTypeIsAConfigurationError() {
    CompletableFuture<Optional<Lease>> future = askAndBeGrantedByTwo();
    answerReleases(
        Map.of(0, Scripts.MINE, 1, Scripts.MINE, 2, WRONG_ON_REDIS_6, 3, WRONG, 4, WRONG));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("'a'", "h3:6379, h4:6379, h5:6379");
  }

  @Test
  @Rule("ACQ-9")
  @DisplayName(
      "keys of another type and nodes that do not answer are an outage that" + " names both")
  void foreignTypeAndSilentNodesAreAnOutage() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    refuse(asked, 2);
    time.advance(NODE_TIMEOUT);
    answerReleases(Map.of(0, Scripts.MINE, 1, Scripts.MINE, 2, WRONG, 3, WRONG, 4, WRONG));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(
            "'a', whose key holds no string, so no lock, on h3:6379 (3 of 5 nodes answered)",
            "h4:6379: no answer");
  }

  @Test
  @Rule("ACQ-9")
  @DisplayName("another owner beside a key of another type is contention")
  void aForeignTypeBesideAnotherOwnerIsContention() {
    CompletableFuture<Optional<Lease>> future = askAndBeGrantedByTwo();
    answerReleases(
        Map.of(0, Scripts.MINE, 1, Scripts.MINE, 2, WRONG, 3, Scripts.OTHER, 4, Scripts.OTHER));

    assertThat(future.join()).isEmpty();
  }

  @Test
  @Rule("ACQ-9")
  @DisplayName("keys of another type are contention if the silent nodes could change nothing")
  void foreignTypeIsContentionIfSilentNodesCouldChangeNothing() {
    CompletableFuture<Optional<Lease>> future = ask();
    refuse(nodes.take(), 2, 3, 4);
    answerReleases(Map.of(2, WRONG, 3, Scripts.OTHER, 4, Scripts.OTHER));

    assertThat(future.join()).isEmpty();
  }

  /** Asks, and is granted by nodes 0 and 1. The others refuse. */
  private CompletableFuture<Optional<Lease>> askAndBeGrantedByTwo() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    refuse(asked, 2, 3, 4);
    return future;
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(10)));
  }

  /** Answers the release of a failed attempt: by node, an error or a code. Others stay silent. */
  private void answerReleases(Map<Integer, Object> answers) {
    nodes.answer(
        asked -> {
          Object answer = answers.get(asked.node());
          if (answer instanceof String error) {
            asked.round().error(asked.node(), error);
          } else if (answer != null) {
            asked.round().reply(asked.node(), answer);
          }
        });
  }
}
