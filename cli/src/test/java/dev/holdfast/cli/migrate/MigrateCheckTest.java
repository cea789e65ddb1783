package dev.holdfast.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast migrate check} on a real server. */
class MigrateCheckTest {
  /** The launcher's property where stdin is a terminal. */
  private static final Map<String, String> TERMINAL =
      Map.of("HOLDFAST_JAVA_OPTS", "-Dholdfast.terminal.in=true");

  /** A time in November 2023. */
  private static final String PAST = "1700000000";

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  @AutoClose private final Programs programs = new Programs();

  @BeforeEach
  void empty() {
    NODE.command("FLUSHALL");
  }

  @Test
  void exitsWith0IfNoLockIsHeldTheOldWay() {
    NODE.command("SET", "counter", "42");

    Program check = check();

    assertThat(check.exitCode()).as(check.err()).isZero();
    assertThat(check.out())
        .startsWith(NODE.address() + ": 1 keys looked at; time stamps like those of locks: 0\n")
        .contains("No lock of the old pattern was held during the check.")
        .contains("does not prove that no\nprocess is left", "Count your processes")
        .contains("phase 'both' has ended")
        .doesNotContain("SETNX");
    assertThat(check.err()).isEmpty();
  }

  @Test
  void exitsWith1AndShowsEachLiveStamp() {
    NODE.command("SET", "lock.live", in(30));
    NODE.command("SET", "lock.old", PAST + "000.5", "PX", "90000");

    Program check = check();

    assertThat(check.exitCode()).as(check.err()).isEqualTo(1);
    assertThat(check.out())
        .containsPattern("lock\\.live +s integer +live for (29|30|2\\d) s +none\n")
        .containsPattern("lock\\.old +ms float +expired \\d+ d ago +1 min\n")
        .contains("live: 1; expired: 1; without a TTL: 1")
        .contains("Phase 'both' has not ended: 1 live locks of the old pattern, the last until ")
        .contains("Expired stamps, left by holders that died: 1.")
        .contains("stamps in s and in ms");
  }

  @Test
  void asAProcessItSaysTheSame() {
    NODE.command("SET", "lock.old", PAST);

    Program check = programs.holdfast("migrate", "check", "--url", NODE.uri());

    assertThat(check.exitCode()).as(check.err()).isZero();
    assertThat(check.out()).contains("lock.old", "Expired stamps, left by holders that died: 1.");
    assertThat(check.err()).isEmpty();
  }

  @Test
  void showsTheSameAsJson() {
    NODE.command("SET", "lock.live", in(30));
    NODE.command("SET", "lock.old", PAST, "PX", "90000");

    Program check = check("--json");

    assertThat(check.exitCode()).as(check.err()).isEqualTo(1);
    assertThat(check.out()).hasLineCount(1);
    assertThat(check.out())
        .startsWith("{\"server\": \"" + NODE.address() + "\", \"keys\": 2, \"begun\": \"")
        .contains("\"live\": 1, \"expired\": 1, \"withoutTtl\": 1, \"lastPasses\": \"")
        .contains("\"setnxCalls\": 0, \"getsetCalls\": 0, \"clear\": false")
        .containsPattern(
            "\\{\"name\": \"lock.live\", \"unit\": \"s\", \"number\": \"integer\", \"value\":"
                + " \"\\d{10}\", \"state\": \"live\", \"seen\": \"[^\"]+Z\", \"passes\": \"[^\"]+Z\","
                + " \"passesInMillis\": [12]\\d{4}}")
        .containsPattern(
            "\"state\": \"expired\", \"seen\": \"[^\"]+Z\", \"passes\": \"2023-11-14T22:13:20Z\", \"passesInMillis\":"
                + " -\\d+, \"ttlMillis\": [78]\\d{4}}")
        .doesNotContain("deleted");
  }

  @Test
  void looksOnlyAtWhatMatches() {
    NODE.command("SET", "other", in(30));
    NODE.command("SET", "lock.old", PAST);

    Program check = check("--match", "lock.*");

    assertThat(check.exitCode()).as(check.err()).isZero();
    assertThat(check.out()).contains("lock.old").doesNotContain("other");
  }

  @Test
  void saysHowFarItIsAndChangesNothing() {
    NODE.fill("key:", 40_000);
    NODE.command("SET", "lock.old", PAST);

    Program check = check("--rate", "10000", "--json");

    assertThat(check.exitCodeWithin(Limits.LONG)).as(check.err()).isZero();
    assertThat(check.err()).containsPattern("holdfast: \\d+ s  [\\d,]+ of about 40,001 keys\n");
    assertThat(check.out()).hasLineCount(1).contains("\"keys\": 40001");
    assertThat(NODE.command("DBSIZE")).isEqualTo(40_001L);
  }

  @Test
  void exitsWith1IfALockIsTakenAndReleasedTheOldWayDuringTheScan() {
    NODE.fill("key:", 40_000);

    Program check = check("--rate", "5000").awaitErr("of about 40,000 keys");
    NODE.command("SETNX", "lock.brief", in(30));
    NODE.command("DEL", "lock.brief");
    NODE.command("GETSET", "lock.brief", in(30));
    NODE.command("DEL", "lock.brief");

    assertThat(check.exitCodeWithin(Limits.LONG)).as(check.err()).isEqualTo(1);
    assertThat(check.out())
        .contains("SETNX was called 1 times and GETSET 1 times.")
        .contains("Old clients, or processes in 'from' or 'both', are still running");
  }

  @Test
  void deletesWhatExpiredMoreThanAMinuteAgo() {
    NODE.command("SET", "lock.old", PAST);
    NODE.command("SET", "lock.young", in(-5));
    NODE.command("SET", "other", "42");

    Program check = check("--match", "lock.*", "--delete-expired", "--yes");

    assertThat(check.exitCode()).as(check.err()).isZero();
    assertThat(check.out()).contains("Deleted: 1. Left: 1 that passed less than a minute ago.");
    assertThat(NODE.command("EXISTS", "lock.old")).isEqualTo(0L);
    assertThat(NODE.command("EXISTS", "lock.young", "other")).isEqualTo(2L);
  }

  @Test
  void deletingLeavesWhatIsLiveAndEndsWith1() {
    NODE.command("SET", "lock.live", in(30));
    NODE.command("SET", "lock.old", PAST);

    Program check = check("--match", "lock.*", "--delete-expired", "--yes", "--json");

    assertThat(check.exitCode()).as(check.err()).isEqualTo(1);
    assertThat(check.out()).hasLineCount(1).contains("\"deleted\": 1, \"changed\": []");
    assertThat(NODE.command("DBSIZE")).isEqualTo(1L);
  }

  @Test
  void leavesALockThatIsTakenDuringThePrompt() {
    NODE.command("SET", "lock.a", PAST);
    NODE.command("SET", "lock.b", PAST);
    Program check = check(TERMINAL, "--match", "lock.*", "--delete-expired").awaitErr("[y/N]");
    assertThat(check.out()).contains("lock.a", "lock.b");

    String taken = in(30);
    NODE.command("GETSET", "lock.a", taken);
    check.press("y\n");

    assertThat(check.exitCode()).as(check.err()).isEqualTo(1);
    assertThat(check.err()).startsWith("Delete 2 expired stamps on " + NODE.address() + "?");
    assertThat(check.out()).contains("Deleted: 1. Left: 1 that changed meanwhile: lock.a.");
    assertThat(NODE.command("GET", "lock.a")).isEqualTo(taken);
    assertThat(NODE.command("EXISTS", "lock.b")).isEqualTo(0L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"n\n", "\n", ""})
  void deletesNothingIfTheAnswerIsAnotherOrNone(String answer) {
    NODE.command("SET", "lock.old", PAST);

    Program check =
        check(TERMINAL, "--match", "lock.*", "--delete-expired").awaitErr("[y/N]").type(answer);

    assertThat(check.exitCode()).isEqualTo(1);
    assertThat(check.out()).contains("Nothing was deleted.");
    assertThat(NODE.command("EXISTS", "lock.old")).isEqualTo(1L);
  }

  @Test
  void doesNotPromptIfThereIsNothingToDelete() {
    Program check = check(TERMINAL, "--match", "lock.*", "--delete-expired");

    assertThat(check.exitCode()).as(check.err()).isZero();
    assertThat(check.err()).isEmpty();
    assertThat(check.out()).contains("Deleted: 0.");
  }

  @Test
  void endsWith69AndNamesTheServerAndNoPasswordWhereNoneAnswers() {
    try (TestNodes other = TestNodes.start(1)) {
      other.node(0).kill();

      Program check = checkWithPassword(other.node(0));

      assertThat(check.exitCode()).isEqualTo(69);
      assertThat(check.err()).contains(other.node(0).address()).doesNotContain("geheim");
      assertThat(check.out()).isEmpty();
    }
  }

  @Test
  void exitsWith64WithoutShowingAWrongPassword() {
    Program check = checkWithPassword(NODE);

    assertThat(check.exitCode()).isEqualTo(64);
    assertThat(check.err()).contains("WRONGPASS", NODE.address()).doesNotContain("geheim");
  }

  private Program check(String... options) {
    return check(Map.of(), options);
  }

  private Program check(Map<String, String> environment, String... options) {
    List<String> args = new ArrayList<>(List.of("migrate", "check", "--url", NODE.uri()));
    args.addAll(List.of(options));
    return programs.inThisJvm(environment, args.toArray(new String[0]));
  }

  private Program checkWithPassword(TestNode node) {
    String url = node.uri().replace("redis://", "redis://u:geheim@");
    return programs.inThisJvm(Map.of(), "migrate", "check", "--url", url);
  }

  private static String in(long seconds) {
    return Long.toString(Instant.now().getEpochSecond() + seconds);
  }
}
