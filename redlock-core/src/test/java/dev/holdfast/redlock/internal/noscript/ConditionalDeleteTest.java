package dev.holdfast.redlock.internal.noscript;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A release by DELEX or DELIFEQ, in one round trip. */
class ConditionalDeleteTest {
  private static final int FIRST = 0;
  private static final int SECOND = 1;
  private static final String TOKEN = "me:1";
  private static final String UNKNOWN = "ERR unknown command 'X', with args beginning with: 'a'";
  private static final String FORBIDDEN = "NOPERM User u has no permissions to run the 'x' command";

  private final ScriptedNodes nodes = new ScriptedNodes(1).withConditionalDelete();
  private final TransactionalScripts transactions = new TransactionalScripts(nodes, FIRST);

  @BeforeEach
  void connect() {
    nodes.connect(FIRST, () -> {});
    nodes.connect(SECOND, () -> {});
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @DisplayName("a release compares and deletes by one command, after a GET of the key")
  void releaseIsOneCommandAfterAGet() {
    CompletableFuture<@Nullable Object> release = release();
    assertThat(nodes.pendingWords()).containsExactly("GET a", "DELEX a IFEQ me:1");
    assertThat(nodes.pending()).extracting(ScriptedNodes.Asked::node).containsOnly(FIRST);

    nodes.replyInTurn(TOKEN, 1L);

    assertThat(release).isCompletedWithValue(Scripts.MINE);
    assertThat(nodes.pendingWords()).isEmpty();
  }

  @Test
  @Rule("REL-3")
  @DisplayName("a key that is not there is missing")
  void aKeyThatIsNotThereIsMissing() {
    CompletableFuture<@Nullable Object> release = release();

    nodes.replyInTurn(null, 0L);

    assertThat(release).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Rule("REL-3")
  @DisplayName("a key that expires between the GET and the command is missing")
  void keyThatExpiresAfterTheGetIsMissing() {
    CompletableFuture<@Nullable Object> release = release();

    nodes.replyInTurn(TOKEN, 0L);

    assertThat(release).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-2")
  @DisplayName("the key of another owner is left")
  void keyOfAnotherOwnerIsLeft() {
    CompletableFuture<@Nullable Object> release = release();

    nodes.replyInTurn("another:2", 0L);

    assertThat(release).isCompletedWithValue(Scripts.OTHER);
  }

  @ParameterizedTest
  @ValueSource(strings = {UNKNOWN, FORBIDDEN})
  @DisplayName("DELIFEQ of Valkey is tried once if DELEX of Redis is refused")
  void delifeqIsFoundByTrying(String refusal) {
    CompletableFuture<@Nullable Object> release = release();
    replyWithError(TOKEN, refusal);
    assertThat(nodes.pendingWords()).containsExactly("GET a", "DELIFEQ a me:1");
    nodes.replyInTurn(TOKEN, 1L);
    assertThat(release).isCompletedWithValue(Scripts.MINE);

    release();
    assertThat(nodes.pendingWords()).containsExactly("GET a", "DELIFEQ a me:1");
  }

  @Test
  @DisplayName("on a node with neither command, this and each later release is a transaction")
  void releaseIsATransactionWithoutEitherCommand() {
    CompletableFuture<@Nullable Object> release = release();
    replyWithError(TOKEN, UNKNOWN);
    replyWithError(TOKEN, FORBIDDEN);
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    nodes.replyInTurn("OK", -2L, null);
    nodes.replyInTurn("OK");
    assertThat(release).isCompletedWithValue(Scripts.MISSING);

    release();
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("any other error of the command is an error of the release and no vote")
  void otherErrorsOfTheCommandAreErrorsOfTheRelease() {
    CompletableFuture<@Nullable Object> release = release();

    replyWithError(TOKEN, "READONLY You can't write against a read only replica.");

    assertThat(release).isCompletedExceptionally();
    assertThat(nodes.pendingWords()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-9")
  @DisplayName(
      "a key of another type is recognised by the GET, because DELEX gives" + " another error")
  void keyOfAnotherTypeIsRecognisedByTheGet() {
    CompletableFuture<@Nullable Object> release = release();
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().error(FIRST, "WRONGTYPE Operation against a key");
    taken.get(1).round().error(FIRST, "ERR Key should be of string type");

    assertThat(release)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("WRONGTYPE");
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a reply that is no number of keys is no vote")
  void aReplyThatIsNoNumberIsNoVote() {
    CompletableFuture<@Nullable Object> release = release();

    nodes.replyInTurn(TOKEN, "OK");

    assertThat(release).isCompletedExceptionally();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @DisplayName("a release that sets the key's life is a transaction")
  void aReleaseThatSetsTheLifeIsATransaction() {
    ask(Scripts.KEEP, TOKEN, "4000", "0", "0");

    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @DisplayName("a release waits for the extension of its key, which could put the key back")
  void aReleaseWaitsForTheExtensionOfItsKey() {
    ask(Scripts.EXTEND.plain(), TOKEN, "50000");
    release();
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    nodes.replyInTurn("OK", -2L, null);
    nodes.replyInTurn("OK");
    nodes.replyInTurn("OK");

    assertThat(nodes.pendingWords()).containsExactly("GET a", "DELEX a IFEQ me:1");
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a release that notifies waiters reports that nothing was published")
  void releaseThatNotifiesReportsThatNothingWasPublished() {
    CompletableFuture<@Nullable Object> release = ask(Scripts.RELEASE, TOKEN, "channel");

    nodes.replyInTurn(TOKEN, 1L);

    assertThat(release).isCompletedWithValue(Scripts.MINE_UNPUBLISHED);
  }

  private CompletableFuture<@Nullable Object> release() {
    return ask(Scripts.RELEASE, TOKEN);
  }

  private CompletableFuture<@Nullable Object> ask(Script script, String... arguments) {
    CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
    Command command = new Command.Eval(script, false, List.of("a"), List.of(arguments));
    transactions.submit(new Round(command, NodeSet.of(FIRST), new Answered(answer)));
    return answer;
  }

  /** Replies to all with these values, and to the last with an error. */
  private void replyWithError(String value, String error) {
    List<ScriptedNodes.Asked> taken = nodes.take();
    assertThat(taken).hasSize(2);
    taken.get(0).round().reply(FIRST, value);
    taken.get(1).round().error(FIRST, error);
  }

  /** Completes a future with whatever comes. */
  private record Answered(CompletableFuture<@Nullable Object> answer) implements Round.Answers {
    @Override
    public void reply(int node, @Nullable Object reply) {
      answer.complete(reply);
    }

    @Override
    public void error(int node, String error) {
      answer.completeExceptionally(new IllegalStateException(error));
    }

    @Override
    public void failure(int node, Throwable cause) {
      answer.completeExceptionally(cause);
    }

    @Override
    public boolean isDecided() {
      return answer.isDone();
    }
  }
}
