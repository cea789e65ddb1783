package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Adoptions that no quorum answers, message by message. */
class AdoptingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("a", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private final LockManager locks = Redlock.open(nodes, time.plainOptions());

  @Test
  @Rule("TRANSFER-7")
  @DisplayName("an adoption that was sent to no node leaves the text usable")
  void anAdoptionThatAskedNoNodeLeavesTheTextUsable() {
    String text = transferred();
    for (int node = 0; node < 3; node++) {
      nodes.unreachable(node, new IllegalStateException("refused"));
      nodes.breakConnection(node);
    }
    time.advance(Duration.ofMillis(100));

    assertOutage(locks.adoptAsync(text, REQUEST), "'a'; its text stays usable (0 of 3");

    for (int node = 0; node < 3; node++) {
      nodes.unreachable(node, null);
    }
    time.advance(Duration.ofSeconds(5));
    assertThat(nodes.take()).as("releases").isEmpty();
    CompletableFuture<Lease> adopted = locks.adoptAsync(text, REQUEST);
    nodes.answerAll(asked -> asked.round().reply(asked.node(), Scripts.MINE));
    assertThat(adopted.join().isHeld()).isTrue();
  }

  @Test
  @Rule("TRANSFER-7")
  @DisplayName("an adoption that nodes were asked for ends the transfer, and says so")
  void anAdoptionThatNodesDoNotAnswerEndsTheTransfer() {
    CompletableFuture<Lease> adopted = locks.adoptAsync(transferred(), REQUEST);

    time.advance(Duration.ofSeconds(5));

    assertOutage(adopted, "'a'; its transfer is over (0 of 3");
  }

  @Test
  @Rule("TRANSFER-8")
  @DisplayName("nodes without the lock whose quarantine an adoption ends deny the adoption")
  void nodesWhoseQuarantineEndsDenyAnAdoption() {
    ScriptedNodes three = new ScriptedNodes(3);
    LockManager guarded = Redlock.open(three, time.options());
    String text = transferred(guarded, three, 1_700_000_000_000_000L);
    CompletableFuture<Lease> adopted = guarded.adoptAsync(text, REQUEST);

    three.answer(
        asked ->
            asked
                .round()
                .error(asked.node(), "QUARANTINE " + Scripts.MISSING + " 70000 0 0 0 101"));
    three.answerAll(asked -> asked.round().reply(asked.node(), Scripts.MINE));

    assertThat(adopted)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockLostException.class)
        .extracting(e -> ((LockLostException) e).reason())
        .isEqualTo(LossReason.REMOVED);
  }

  private String transferred() {
    return transferred(locks, nodes, "OK");
  }

  private static String transferred(LockManager locks, ScriptedNodes nodes, Object grant) {
    CompletableFuture<Optional<Lease>> taken = locks.tryAcquireAsync(REQUEST);
    nodes.answerAll(asked -> asked.round().reply(asked.node(), grant));
    CompletableFuture<String> text = taken.join().orElseThrow().transferAsync(TTL);
    nodes.answerAll(asked -> asked.round().reply(asked.node(), Scripts.MINE));
    return text.join();
  }

  private static void assertOutage(CompletableFuture<Lease> adopted, String message) {
    assertThat(adopted)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockOutageException.class)
        .withMessageContaining(message);
  }
}
