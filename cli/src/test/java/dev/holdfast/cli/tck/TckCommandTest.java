package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.cli.ThirdParty;
import dev.holdfast.cli.report.Browser;
import dev.holdfast.testnodes.TestNodes;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code holdfast tck}, as a process where signals, class paths and loaded classes matter, and once
 * with the whole kit.
 */
@Tag("slow")
class TckCommandTest {
  /** The time limit of the kit, five times what it takes on an idle machine. */
  private static final Duration WHOLE_KIT = Duration.ofSeconds(100);

  @TempDir Path folder;

  @AutoClose private final Programs programs = new Programs();

  @Test
  void memoryPassesAndItsReportAgreesWithItselfInABrowser() throws Exception {
    Path report = folder.resolve("report");

    // All rules are shown for memory by its own test: here some of each result are enough.
    Program tck =
        tck("--url", "memory:", "--rule", "ACQ,REL,VAL,NODES", "--report", report.toString());

    assertThat(tck.exitCodeWithin(WHOLE_KIT)).as(tck.out() + tck.err()).isZero();
    assertThat(tck.out())
        .containsPattern("\nPASSED: \\d+ of \\d+ rules shown \\(\\d+ tests, [\\d.]+ s\\)\n")
        .contains("\nReport: " + report.resolve("report.html"))
        .doesNotContain("FAILED");
    assertThat(tck.err()).isEmpty();
    ReportFigures figures =
        ReportFigures.ofXml(Files.readString(report.resolve("TEST-holdfast-tck.xml")));
    assertThat(figures.rules()).containsEntry("REL-3", "passed").containsEntry("ACQ-7", "passed");
    assertThat(figures.failures()).isEmpty();
    Path page = report.resolve("report.html");
    ReportFigures.ofPage(Browser.open(page, folder.resolve("profile"))).assertSameAs(figures);
  }

  @Test
  void aBackendThatBreaksARuleIsFailedByThatRuleAlone() throws Exception {
    String jar = ThirdParty.unsound(folder).toString();
    Path report = folder.resolve("report");

    Program tck =
        tck(
            "--class-path",
            jar,
            "--url",
            "unsound:",
            "--in-process",
            "--rule",
            "REL",
            "--report",
            "" + report);

    assertThat(tck.exitCode()).as(tck.err()).isEqualTo(1);
    assertThat(tck.out())
        .contains("FAILED  REL-3 MUST. `release()` is true if", "    If this fails, check ")
        .contains("\nFAILED: 1 MUST failed, ")
        .doesNotContain("ACQ-1");
    ReportFigures figures =
        ReportFigures.ofXml(Files.readString(report.resolve("TEST-holdfast-tck.xml")));
    assertThat(figures.rules().entrySet())
        .filteredOn(rule -> rule.getValue().equals("failed"))
        .singleElement()
        .extracting(Map.Entry::getKey)
        .isEqualTo("REL-3");
    Path page = report.resolve("report.html");
    ReportFigures.ofPage(Browser.open(page, folder.resolve("profile"))).assertSameAs(figures);
  }

  @Test
  void aRuleThatIsListedAsBrokenByDesignMustBeSeenToBreak() {
    String jar = ThirdParty.unsound(folder).toString();

    Program listed = tckOfUnsound(jar, "REL-3,REL-5", "REL-3=it does not know");
    Program mended = tckOfUnsound(jar, "REL-5", "REL-5=it does not know");

    assertThat(listed.exitCode()).as(listed.out()).isZero();
    assertThat(listed.out()).contains("broken by design: it does not know");
    assertThat(mended.exitCode()).isEqualTo(1);
    assertThat(mended.out()).contains("no test of them failed: [REL-5]");
  }

  @Test
  void jarsOfAThirdPartyAreAccepted() {
    String jar = ThirdParty.sound(folder).toString();

    Program tck = tck("--class-path=" + jar, "--url", "sound:", "--rule", "DISC,REL", "--json");

    assertThat(tck.exitCode()).as(tck.out() + tck.err()).isZero();
    assertThat(tck.out()).hasLineCount(1).startsWith("{\"url\": \"sound:\", \"passed\": true,");
    assertThat(tck.out()).contains("\"backend\": \"sound, sound.jar\"");
  }

  @Test
  void theRestartGuardIsOffForAnySchemeThatKnowsIt() {
    String jar = ThirdParty.passingOn(folder).toString();

    Program tck =
        tck("--class-path", jar, "--url", "passing:{nodes}", "--nodes=1", "--rule", "ACQ-6,REL-2");

    assertThat(tck.exitCode()).as(tck.out() + tck.err()).isZero();
  }

  @Test
  void anOptionAboutNodesThatABackendHasNotIsUsageError() {
    String jar = ThirdParty.sound(folder).toString();

    Program tck =
        tck("--class-path", jar, "--url", "sound:{nodes}", "--nodes=1", "--rule", "ACQ-6");

    assertThat(tck.exitCode()).as(tck.out() + tck.err()).isEqualTo(64);
    assertThat(tck.err()).contains("there is no option", "--no-node-options");
  }

  @Test
  void startsItsOwnServersAndInjectsAllFaults() {
    Program tck =
        inThisJvm(
            "--url", "redlock:jedis:{nodes}", "--nodes", "3", "--rule", "REL-2,VAL-2", "--json");

    assertThat(tck.exitCode()).as(tck.out() + tck.err()).isZero();
    assertThat(tck.out())
        .contains("\"url\": \"redlock:jedis:{nodes}\"", "\"servers\": \"3 × ")
        .containsPattern("\"backend\": \"jedis, [^\"]+\", \"driver\": \"[^\"]*jedis-[\\d.]+jar")
        .contains("\"MUST\": {\"failed\": 0, \"passed\": 2, \"not-shown\": ")
        .doesNotContain("no clock to move");
  }

  @Test
  void rulesOfOptionsAboutNodesAreNotShownWhereThereAreNone() {
    Program tck =
        inThisJvm(
            "--url",
            "redlock:jedis:{nodes}",
            "--nodes",
            "1",
            "--rule",
            "KEEP-5",
            "--no-node-options");

    assertThat(tck.exitCode()).as(tck.err()).isEqualTo(1);
    assertThat(tck.out())
        .contains("this environment's managers have no options about nodes", "NOTHING SHOWN: ");
  }

  @Test
  void onServersThatRunItAsksFirstAndLeavesThemAsTheyWere() {
    try (TestNodes nodes = TestNodes.start(3)) {
      String url = "redlock:" + String.join(",", nodes.uris());
      String before = settings(nodes);

      Program unasked = inThisJvm("--url", url, "--rule", "REL-1,REL-8");
      assertThat(unasked.exitCode()).isEqualTo(64);
      assertThat(unasked.err()).contains("give --yes", "emptied");

      Program tck = inThisJvm("--url", url, "--rule", "REL-1,REL-8", "--yes");
      assertThat(tck.exitCode()).as(tck.out() + tck.err()).isZero();
      assertThat(tck.out()).contains("PASSED: 2 of 2 rules shown", url);
      assertThat(settings(nodes)).isEqualTo(before);
      assertThat(nodes.all()).allSatisfy(n -> assertThat(n.command("DBSIZE")).isEqualTo(0L));
    }
  }

  @Test
  void serversThatHoldKeysAreRefused() {
    try (TestNodes nodes = TestNodes.start(1)) {
      nodes.node(0).command("SET", "mine", "1");

      Program tck = inThisJvm("--url", "redlock:" + nodes.node(0).uri(), "--yes");

      assertThat(tck.exitCode()).isEqualTo(64);
      assertThat(tck.err()).startsWith("holdfast: ").contains("has keys");
      assertThat(nodes.node(0).command("GET", "mine")).isEqualTo("1");
    }
  }

  @Test
  void withoutAQuorumItEndsWith69() {
    Program running = inThisJvm("--url", "redlock:redis://127.0.0.1:1", "--yes");

    assertThat(running.exitCode()).as(running.err()).isEqualTo(69);
    assertThat(running.err()).contains("127.0.0.1:1");
  }

  @Test
  void aSignalEndsItAfterTheTestThatRunsAndNoServerIsLeft() {
    Program tck = tck("--url", "redlock:jedis:{nodes}", "--json").awaitErr(" tests, ");
    List<ProcessHandle> children = tck.handle().descendants().toList();

    tck.signal("TERM");

    assertThat(tck.exitCode()).isEqualTo(143);
    assertThat(tck.out()).contains("\"complete\": false", "\"not-shown\"");
    assertThat(children).isNotEmpty().noneMatch(ProcessHandle::isAlive);
  }

  @Test
  void aPasswordIsInNoFileAndOnNoScreen() throws Exception {
    Path report = folder.resolve("report");
    try (TestNodes nodes = TestNodes.start(1)) {
      nodes.node(0).command("CONFIG", "SET", "requirepass", "geheim");
      String url = "redlock:redis://:geheim@" + nodes.node(0).address();

      Program tck = inThisJvm("--url", url, "--yes", "--rule", "REL-1", "--report", "" + report);

      assertThat(tck.exitCode()).as(tck.out() + tck.err()).isZero();
      assertThat(tck.out() + tck.err()).contains("***").doesNotContain("geheim");
      assertThat(report.resolve("report.html"))
          .content(StandardCharsets.UTF_8)
          .doesNotContain("geheim");
      assertThat(report.resolve("TEST-holdfast-tck.xml"))
          .content(StandardCharsets.UTF_8)
          .doesNotContain("geheim");
    }
  }

  @Test
  void otherCommandsLoadNothingOfIt() {
    Program run =
        programs.holdfast(
            Map.of("HOLDFAST_JAVA_OPTS", "-Xlog:class+load=info:stdout"),
            "run",
            "--url",
            "redlock:redis://127.0.0.1:1",
            "--name",
            "x",
            "true");

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.out())
        .contains("dev.holdfast.cli.run.RunCommand ")
        .doesNotContain("org.junit.", "org.assertj.", "dev.holdfast.tck.");
  }

  private static String settings(TestNodes nodes) {
    StringBuilder all = new StringBuilder();
    nodes.all().forEach(n -> all.append(n.command("CONFIG", "GET", "maxmemory*")));
    nodes.all().forEach(n -> all.append(n.command("ACL", "LIST")));
    return all.toString();
  }

  private Program tckOfUnsound(String jar, String rules, String broken) {
    return tck(
        "--class-path=" + jar,
        "--url",
        "unsound:",
        "--in-process",
        "--rule",
        rules,
        "--broken",
        broken);
  }

  private Program inThisJvm(String... args) {
    return programs.inThisJvm(command(args));
  }

  private Program tck(String... args) {
    return programs.holdfast(command(args));
  }

  private static String[] command(String... args) {
    List<String> all = new ArrayList<>(List.of("tck"));
    all.addAll(List.of(args));
    return all.toArray(new String[0]);
  }
}
