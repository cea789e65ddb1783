package dev.holdfast.redlock.internal.noscript;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The transaction for each script, command by command. */
class TransactionalScriptsTest {
  private static final int FIRST = 0;
  private static final int SECOND = 1;
  private static final String TOKEN = "me:1";

  private final ScriptedNodes nodes = new ScriptedNodes(1);
  private final TransactionalScripts transactions = new TransactionalScripts(nodes, FIRST);

  @BeforeEach
  void connect() {
    nodes.connect(FIRST, () -> {});
    nodes.connect(SECOND, () -> {});
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @DisplayName("a release that keeps other owners out shortens the key's life" + " atomically")
  void releaseMayShorten() {
    Asking asking = keep(4_000, false);
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    nodes.replyInTurn("OK", 4_001L, TOKEN);
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("PEXPIRE a 4000", "EXEC");
    nodes.replyInTurn("QUEUED", List.of(1L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @DisplayName("a release of a valid lease lengthens the key's life atomically")
  void releaseOfAValidLeaseMayLengthen() {
    Asking asking = keep(60_000, true);
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    nodes.replyInTurn("OK", 4_000L, TOKEN);
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("PEXPIRE a 60000", "EXEC");
    nodes.replyInTurn("QUEUED", List.of(1L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @DisplayName("the key of another owner is not lengthened")
  void theKeyOfAnotherOwnerIsNotLengthened() {
    Asking asking = keep(60_000, true);
    nodes.replyInTurn("OK", 4_000L, "another");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.OTHER);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @DisplayName("the release of a lease that is over never lengthens a key's life")
  void aReleaseOfALeaseThatIsOverNeverLengthens() {
    Asking asking = keep(4_000, false);
    nodes.replyInTurn("OK", 4_000L, TOKEN);
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Rule("REL-3")
  @DisplayName("a release of a missing key is reported")
  void releaseOfAMissingKeyIsReported() {
    Asking asking = release();
    nodes.replyInTurn("OK", -2L, null);
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Rule("REL-3")
  @DisplayName("a key that expired between its comparison and its deletion was missing")
  void aKeyThatExpiredInBetweenWasMissing() {
    Asking asking = release();
    nodes.replyInTurn("OK", 1L, TOKEN);
    nodes.replyInTurn("OK");
    nodes.replyInTurn("QUEUED", List.of(0L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @DisplayName("a key that lives at least as long as requested is unchanged")
  void keyThatLivesLongEnoughIsUnchanged() {
    Asking asking = extend(50_000);
    nodes.replyInTurn("OK", 50_000L, TOKEN);
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Rule("EXT-7")
  @DisplayName("a key that was put back counts as missing")
  void aKeyThatWasPutBackCountsAsMissing() {
    Asking asking = extend(50_000);
    nodes.replyInTurn("OK", -2L, null);
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @DisplayName("a key that changes under three transactions is no vote")
  void aKeyThatChangesUnderEachTransactionIsNoVote() {
    Asking asking = extend(50_000);
    for (int tries = 0; tries < 3; tries++) {
      nodes.replyInTurn("OK", 1_000L, TOKEN);
      nodes.replyInTurn("OK");
      assertThat(asking.answer()).isNotDone();
      nodes.replyInTurn("QUEUED", null);
    }

    assertThat(nodes.pendingWords()).isEmpty();
    assertThat(asking.errors).singleElement().asString().startsWith("ERR the key changed");
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a key whose ttl cannot be read is not taken for ours")
  void keyWithoutAReadableTtlIsNotOurs() {
    Asking asking = release();
    nodes.replyInTurn("OK", "?", TOKEN);
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.OTHER);
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a key of another type is the server's own error, and is watched no longer")
  void aKeyOfAnotherTypeIsTheServersError() {
    Asking asking = release();
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().reply(SECOND, "OK");
    taken.get(1).round().reply(SECOND, -1L);
    taken.get(2).round().error(SECOND, "WRONGTYPE Operation against a key");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    assertThat(asking.errors).isEmpty();
    nodes.replyInTurn("OK");

    assertThat(asking.errors).containsExactly("WRONGTYPE Operation against a key");
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("an inspection reports type, value and ttl, and changes nothing")
  void inspectionReportsTypeValueAndTtl() {
    Asking asking = ask(Scripts.INSPECT);
    assertThat(nodes.pendingWords()).containsExactly("TYPE a", "GET a", "PTTL a");
    nodes.replyInTurn("string", "alice:1", 9_000L);

    assertThat(asking.answer()).isCompletedWithValue(List.of("string", "alice:1", 9_000L));
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("a key that is missing, or of another type, has no value")
  void missingKeyHasNoValue() {
    Asking missing = ask(Scripts.INSPECT);
    nodes.replyInTurn("none", null, -2L);
    assertThat(missing.answer()).isCompletedWithValue(List.of("none", "", -2L));

    Asking list = ask(Scripts.INSPECT);
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().reply(SECOND, "list");
    taken.get(1).round().error(SECOND, "WRONGTYPE Operation against a key");
    taken.get(2).round().reply(SECOND, -1L);
    assertThat(list.answer()).isCompletedWithValue(List.of("list", "", -1L));
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a forced release removes the lock of any owner")
  void forcedReleaseRemovesAnyOwnersLock() {
    Asking asking = ask(Scripts.REMOVE);
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "TYPE a");
    nodes.replyInTurn("OK", "string");
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("DEL a", "EXEC");
    nodes.replyInTurn("QUEUED", List.of(1L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("the second of two forced releases at the same time finds nothing")
  void secondForcedReleaseFindsNothing() {
    Asking asking = ask(Scripts.REMOVE);
    nodes.replyInTurn("OK", "string");
    nodes.replyInTurn("OK");
    nodes.replyInTurn("QUEUED", null);
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "TYPE a");
    nodes.replyInTurn("OK", "none");
    nodes.replyInTurn("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a lock that changes under three forced releases is no vote")
  void aLockThatChangesUnderEachForcedReleaseIsNoVote() {
    Asking asking = ask(Scripts.REMOVE);
    for (int tries = 0; tries < 3; tries++) {
      nodes.replyInTurn("OK", "string");
      nodes.replyInTurn("OK");
      assertThat(asking.answer()).isNotDone();
      nodes.replyInTurn("QUEUED", null);
    }

    assertThat(asking.errors).singleElement().asString().startsWith("ERR the key changed");
  }

  @Test
  @Rule({"INSP-2", "ACQ-9"})
  @DisplayName("a forced release removes nothing that is no lock")
  void aForcedReleaseRemovesNothingElse() {
    Asking nothing = ask(Scripts.REMOVE);
    nodes.replyInTurn("OK", "none");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");
    assertThat(nothing.answer()).isCompletedWithValue(Scripts.MISSING);

    Asking list = ask(Scripts.REMOVE);
    nodes.replyInTurn("OK", "list");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");
    assertThat(list.errors).singleElement().asString().startsWith("WRONGTYPE");
  }

  @Test
  @DisplayName("the commands for one key are sent one after the other")
  void commandsForOneKeyAreSentInOrder() {
    Asking set = set();
    Asking release = release();
    Asking setAgain = set();
    assertThat(nodes.pendingWords()).containsExactly("SET a me:1 NX PX 1000");
    nodes.replyInTurn("OK");
    assertThat(set.answer()).isCompletedWithValue("OK");
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    nodes.replyInTurn("OK", 5L, "another");
    nodes.replyInTurn("OK");
    assertThat(release.answer()).isCompletedWithValue(Scripts.OTHER);
    assertThat(nodes.pendingWords()).containsExactly("SET a me:1 NX PX 1000");
    nodes.replyInTurn((Object) null);
    assertThat(setAgain.answer()).isCompletedWithValue(null);

    set();
    assertThat(nodes.pendingWords()).as("nothing is waited for any more").hasSize(1);
  }

  @Test
  @DisplayName("queued commands fail when a connection ends, and so do later ones")
  void queuedCommandsFailWhenAConnectionEnds() {
    set();
    Asking waiting = release();
    transactions.end();
    assertThat(waiting.failures).singleElement().asString().contains("the connection ended");
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).as("it is not sent after all").isEmpty();

    Asking late = set();
    assertThat(late.failures).singleElement().asString().contains("the connection ended");
    assertThat(nodes.pendingWords()).as("on no later connection").isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @DisplayName("a release is not continued on a later connection, which watches no key")
  void releaseIsNotContinuedOnALaterConnection() {
    Asking compared = release();
    transactions.end();
    nodes.replyInTurn("OK", 1_000L, TOKEN);

    assertThat(nodes.pendingWords()).isEmpty();
    assertThat(compared.failures).singleElement().asString().contains("the connection ended");
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @DisplayName("a transaction that has begun is not continued on a later connection")
  void transactionIsNotContinuedOnALaterConnection() {
    Asking begun = release();
    nodes.replyInTurn("OK", 1_000L, TOKEN);
    transactions.end();
    nodes.replyInTurn("OK");

    assertThat(nodes.pendingWords()).isEmpty();
    assertThat(begun.failures).singleElement().asString().contains("the connection ended");
  }

  @Test
  @DisplayName("commands without a key are sent at once")
  void commandsWithoutAKeyAreSentAtOnce() {
    set();
    Asking info = new Asking();
    transactions.submit(new Round(new Command.Info(), NodeSet.of(FIRST), info));

    assertThat(info.answer()).isCompleted();
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("an inspection that may not read the value is no vote")
  void anInspectionThatMayNotReadTheValueIsNoVote() {
    Asking asking = ask(Scripts.INSPECT);
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().reply(SECOND, "string");
    taken.get(1).round().error(SECOND, "NOPERM no permissions to run the 'get' command");
    taken.get(2).round().reply(SECOND, 9_000L);

    assertThat(asking.errors).containsExactly("NOPERM no permissions to run the 'get' command");
  }

  private Asking set() {
    return ask(new Command.SetIfAbsent("a", TOKEN, 1_000));
  }

  private Asking release() {
    return ask(Scripts.RELEASE, TOKEN);
  }

  private Asking keep(long millis, boolean mayLengthen) {
    return ask(Scripts.KEEP, TOKEN, Long.toString(millis), mayLengthen ? "1" : "0", "0");
  }

  private Asking extend(long ttlMillis) {
    return ask(Scripts.EXTEND.plain(), TOKEN, Long.toString(ttlMillis));
  }

  private Asking ask(Script script, String... arguments) {
    return ask(new Command.Eval(script, false, List.of("a"), List.of(arguments)));
  }

  private Asking ask(Command command) {
    Asking asking = new Asking();
    transactions.submit(new Round(command, NodeSet.of(FIRST), asking));
    return asking;
  }

  /** A caller and its result. */
  private static final class Asking implements Round.Answers {
    private final CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
    private final List<String> errors = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    CompletableFuture<@Nullable Object> answer() {
      return answer;
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      assertThat(node).isEqualTo(FIRST);
      answer.complete(reply);
    }

    @Override
    public void error(int node, String error) {
      assertThat(node).isEqualTo(FIRST);
      errors.add(error);
    }

    @Override
    public void failure(int node, Throwable cause) {
      assertThat(node).isEqualTo(FIRST);
      failures.add(String.valueOf(cause.getMessage()));
    }

    @Override
    public boolean isDecided() {
      return answer.isDone();
    }
  }
}
