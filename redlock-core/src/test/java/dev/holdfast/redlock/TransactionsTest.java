package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What stands in the place of each script, command by command. */
class TransactionsTest {
  private static final int FIRST = 0;
  private static final int SECOND = 1;
  private static final String TOKEN = "me:1";

  private final ScriptedNodes nodes = new ScriptedNodes(1);
  private final Transactions transactions = new Transactions(nodes, FIRST, SECOND);

  @BeforeEach
  void connect() {
    nodes.connect(FIRST, () -> {});
    nodes.connect(SECOND, () -> {});
  }

  @Test
  @Tag("exclusion")
  @DisplayName("ACQ-11: a release that keeps others out shortens the key's life, as one")
  void aReleaseMayShorten() {
    Asking asking = release(4_000);
    assertThat(asked()).containsExactly("WATCH a", "PTTL a", "GET a");
    answer("OK", 4_001L, TOKEN);
    answer("OK");
    assertThat(asked()).containsExactly("PEXPIRE a 4000", "EXEC");
    answer("QUEUED", List.of(1L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @Tag("exclusion")
  @DisplayName("ACQ-11: a release never lengthens a key's life")
  void aReleaseNeverLengthens() {
    Asking asking = release(4_000);
    answer("OK", 4_000L, TOKEN);
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @DisplayName("REL-3: a release of what is gone says so")
  void aReleaseOfWhatIsGoneSaysSo() {
    Asking asking = release(0);
    answer("OK", -2L, null);
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @DisplayName("REL-3: a key that expired between its comparison and its deletion was missing")
  void aKeyThatExpiredInBetweenWasMissing() {
    Asking asking = release(0);
    answer("OK", 1L, TOKEN);
    answer("OK");
    answer("QUEUED", List.of(0L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @Tag("exclusion")
  @DisplayName("EXT-3: a key that lives as long as is asked for is left as it is")
  void aKeyThatLivesAsLongIsLeftAsItIs() {
    Asking asking = extend(50_000);
    answer("OK", 50_000L, TOKEN);
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @DisplayName("EXT-7: a key that was put back counts as missing")
  void aKeyThatWasPutBackCountsAsMissing() {
    Asking asking = extend(50_000);
    answer("OK", -2L, null);
    answer("OK");
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MISSING);
  }

  @Test
  @DisplayName("a key that changes under three transactions is no vote")
  void aKeyThatChangesUnderEachTransactionIsNoVote() {
    Asking asking = extend(50_000);
    for (int tries = 0; tries < 3; tries++) {
      answer("OK", 1_000L, TOKEN);
      answer("OK");
      assertThat(asking.answer()).isNotDone();
      answer("QUEUED", null);
    }

    assertThat(asked()).isEmpty();
    assertThat(asking.errors).singleElement().asString().startsWith("ERR the key changed");
  }

  @Test
  @Tag("exclusion")
  @DisplayName("ERR-6: a key whose ttl is not told is not taken for ours")
  void aKeyWhoseTtlIsNotToldIsNotOurs() {
    Asking asking = release(0);
    answer("OK", "?", TOKEN);
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");

    assertThat(asking.answer()).isCompletedWithValue(Scripts.OTHER);
  }

  @Test
  @Tag("exclusion")
  @DisplayName("ERR-6: a key of another type is the server's own error, and is watched no longer")
  void aKeyOfAnotherTypeIsTheServersError() {
    Asking asking = release(0);
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().reply(SECOND, "OK");
    taken.get(1).round().reply(SECOND, -1L);
    taken.get(2).round().error(SECOND, "WRONGTYPE Operation against a key");
    assertThat(asked()).containsExactly("UNWATCH");
    assertThat(asking.errors).isEmpty();
    answer("OK");

    assertThat(asking.errors).containsExactly("WRONGTYPE Operation against a key");
  }

  @Test
  @DisplayName("INSP-1: an inspection tells type, value and ttl, and changes nothing")
  void anInspectionTellsTypeValueAndTtl() {
    Asking asking = ask(Scripts.INSPECT);
    assertThat(asked()).containsExactly("TYPE a", "GET a", "PTTL a");
    answer("string", "alice:1", 9_000L);

    assertThat(asking.answer()).isCompletedWithValue(List.of("string", "alice:1", 9_000L));
  }

  @Test
  @DisplayName("INSP-1: what is not there, or of another type, has no value")
  void whatIsNotThereHasNoValue() {
    Asking missing = ask(Scripts.INSPECT);
    answer("none", null, -2L);
    assertThat(missing.answer()).isCompletedWithValue(List.of("none", "", -2L));

    Asking list = ask(Scripts.INSPECT);
    List<ScriptedNodes.Asked> taken = nodes.take();
    taken.get(0).round().reply(SECOND, "list");
    taken.get(1).round().error(SECOND, "WRONGTYPE Operation against a key");
    taken.get(2).round().reply(SECOND, -1L);
    assertThat(list.answer()).isCompletedWithValue(List.of("list", "", -1L));
  }

  @Test
  @DisplayName("INSP-2: a forced release removes a lock, whoever holds it")
  void aForcedReleaseRemovesALock() {
    Asking asking = ask(Scripts.REMOVE);
    assertThat(asked()).containsExactly("WATCH a", "TYPE a");
    answer("OK", "string");
    answer("OK");
    assertThat(asked()).containsExactly("DEL a", "EXEC");
    answer("QUEUED", List.of(1L));

    assertThat(asking.answer()).isCompletedWithValue(Scripts.MINE);
  }

  @Test
  @DisplayName("INSP-2, ACQ-9: a forced release removes nothing that is no lock")
  void aForcedReleaseRemovesNothingElse() {
    Asking nothing = ask(Scripts.REMOVE);
    answer("OK", "none");
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");
    assertThat(nothing.answer()).isCompletedWithValue(Scripts.MISSING);

    Asking list = ask(Scripts.REMOVE);
    answer("OK", "list");
    assertThat(asked()).containsExactly("UNWATCH");
    answer("OK");
    assertThat(list.errors).singleElement().asString().startsWith("WRONGTYPE");
  }

  @Test
  @DisplayName("the commands for one key go out one after the other, whoever they come from")
  void theCommandsForOneKeyFollowOneAnother() {
    Asking set = set();
    Asking release = release(0);
    Asking setAgain = set();
    assertThat(asked()).containsExactly("SET a me:1 NX PX 1000");
    answer("OK");
    assertThat(set.answer()).isCompletedWithValue("OK");
    assertThat(asked()).containsExactly("WATCH a", "PTTL a", "GET a");
    answer("OK", 5L, "another");
    answer("OK");
    assertThat(release.answer()).isCompletedWithValue(Scripts.OTHER);
    assertThat(asked()).containsExactly("SET a me:1 NX PX 1000");
    answer((Object) null);
    assertThat(setAgain.answer()).isCompletedWithValue(null);

    set();
    assertThat(asked()).as("nothing is waited for any more").hasSize(1);
  }

  @Test
  @DisplayName("what waits when a connection ends fails, and so does what comes afterwards")
  void whatWaitsWhenAConnectionEndsFails() {
    set();
    Asking waiting = release(0);
    transactions.end();
    assertThat(waiting.failures).singleElement().asString().contains("the connection ended");
    answer("OK");
    assertThat(asked()).as("it is not sent after all").isEmpty();

    Asking late = set();
    assertThat(late.failures).singleElement().asString().contains("the connection ended");
    assertThat(asked()).as("on no later connection").isEmpty();
  }

  @Test
  @Tag("exclusion")
  @DisplayName("REL-1: a release goes on on no later connection, where it watches no key")
  void aReleaseGoesOnOnNoLaterConnection() {
    Asking compared = release(0);
    transactions.end();
    answer("OK", 1_000L, TOKEN);

    assertThat(asked()).isEmpty();
    assertThat(compared.failures).singleElement().asString().contains("the connection ended");
  }

  @Test
  @Tag("exclusion")
  @DisplayName("REL-1: nor does one whose transaction has begun")
  void aTransactionGoesOnOnNoLaterConnection() {
    Asking begun = release(0);
    answer("OK", 1_000L, TOKEN);
    transactions.end();
    answer("OK");

    assertThat(asked()).isEmpty();
    assertThat(begun.failures).singleElement().asString().contains("the connection ended");
  }

  @Test
  @DisplayName("what concerns no key goes out at once")
  void whatConcernsNoKeyGoesOutAtOnce() {
    set();
    Asking info = new Asking();
    transactions.submit(new Round(new Command.Info(), 1L << FIRST, false, info));

    assertThat(info.answer()).isCompleted();
  }

  @Test
  @Tag("exclusion")
  @DisplayName("ERR-6: an inspection that may not read the value is no vote")
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

  private Asking release(long keepMillis) {
    return ask(Scripts.RELEASE, TOKEN, Long.toString(keepMillis));
  }

  private Asking extend(long ttlMillis) {
    return ask(Scripts.EXTEND.plain(), TOKEN, Long.toString(ttlMillis));
  }

  private Asking ask(Script script, String... arguments) {
    return ask(new Command.Eval(script, false, List.of("a"), List.of(arguments)));
  }

  private Asking ask(Command command) {
    Asking asking = new Asking();
    transactions.submit(new Round(command, 1L << FIRST, false, asking));
    return asking;
  }

  private List<String> asked() {
    return nodes.pending().stream().map(a -> String.join(" ", a.command().words())).toList();
  }

  /** Answers what was asked, one by one. */
  private void answer(@Nullable Object... replies) {
    List<ScriptedNodes.Asked> taken = nodes.take();
    assertThat(taken).hasSize(replies.length);
    for (int i = 0; i < replies.length; i++) {
      taken.get(i).round().reply(taken.get(i).node(), replies[i]);
    }
  }

  /** Who asked, and what became of it. */
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
    public boolean decided() {
      return answer.isDone();
    }
  }
}
