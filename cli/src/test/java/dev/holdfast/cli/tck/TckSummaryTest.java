package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockCapability;
import dev.holdfast.cli.report.Json;
import dev.holdfast.tck.Spec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The words and the exit code of a run of the kit. */
class TckSummaryTest {
  private static final int RULES = Spec.rules().size();

  private final List<TckTest> tests = new ArrayList<>();
  private Set<String> asked = Set.of();
  private boolean complete = true;

  @Test
  void aMustThatFailsIsNamedFirstWithItsTextAndWhatToCheckAndFailsTheRun() {
    add("ACQ-1", TckOutcome.PASSED, "");
    add("REL-3", TckOutcome.FAILED, "If this fails, check it\n\nexpected: true");

    assertThat(result().exitCode()).isEqualTo(1);
    assertThat(text().lines())
        .startsWith(
            "",
            "FAILED  REL-3 MUST. `release()` is true if the lease was held until then, and false if"
                + " it had been lost or if a quorum of nodes no longer holds its token.",
            "  release: a sentence",
            "    If this fails, check it",
            "",
            "    expected: true")
        .endsWith(
            "memory:", "FAILED: 1 MUST failed, 2 of " + RULES + " rules shown (2 tests, 1.5 s)");
  }

  @Test
  void failedShouldIsReportedSeparatelyAndFailsTheRun() {
    add("REL-3", TckOutcome.PASSED, "");
    add("LOSS-6", TckOutcome.FAILED, "too late");

    assertThat(result().exitCode()).isEqualTo(1);
    assertThat(text()).contains("FAILED  LOSS-6 SHOULD.", "FAILED: 1 SHOULD failed, 2 of ");
  }

  @Test
  void aRuleIsFailedByOneTestAndPassedByOneIfNoneFails() {
    add("REL-1", TckOutcome.PASSED, "");
    add("REL-1", TckOutcome.FAILED, "it");
    add("REL-2", TckOutcome.NOT_SHOWN, "why");
    add("REL-2", TckOutcome.PASSED, "");
    add("REL-3", TckOutcome.NOT_SHOWN, "why");

    assertThat(text())
        .containsPattern("MUST +1 +1 +\\d+\n")
        .contains(
            "Not shown:\n  no manager alone can show it; docs/rules.md lists the tests:\n",
            "  why:\n    REL-2 (in part), REL-3\n");
  }

  @Test
  void errorOfTheKitFailsTheRun() {
    add("REL-3", TckOutcome.PASSED, "");
    tests.add(test(List.of(), TckOutcome.FAILED, "no connection"));

    assertThat(result().exitCode()).isEqualTo(1);
    assertThat(text())
        .contains("no connection", "FAILED: the kit could not do all of its work, 1 of ");
  }

  @Test
  void rulesOutsideTheSelectionAreNotListed() {
    asked = Set.of("REL-3");
    add("REL-3", TckOutcome.PASSED, "");

    assertThat(text()).doesNotContain("Not shown", "ACQ-1").contains("PASSED: 1 of 1 rule shown (");
  }

  @Test
  void runThatShowsNoRuleIsNotPassed() {
    add("REL-3", TckOutcome.NOT_SHOWN, "no nodes");

    assertThat(result().exitCode()).isEqualTo(1);
    assertThat(text()).contains("NOTHING SHOWN: 0 of " + RULES).doesNotContain("PASSED");
  }

  @Test
  void aRunThatWasEndedSaysSo() {
    complete = false;
    add("REL-3", TckOutcome.PASSED, "");

    assertThat(text())
        .containsPattern("1 of \\d+ rules shown, ended early")
        .contains("the run was ended before:\n    ACQ-1");
  }

  @Test
  void linesOfRulesFitATerminal() {
    assertThat(text().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
  }

  @Test
  void coloursAreOptional() {
    add("REL-3", TckOutcome.FAILED, "it");

    assertThat(text()).doesNotContain("\u001b");
    assertThat(TckSummary.of(result(), true))
        .contains("\u001b[31mFAILED\u001b[0m  REL-3", "\u001b[31mFAILED: 1 MUST failed");
  }

  @Test
  void runThatShowsLessThanHalfIsYellow() {
    add("REL-3", TckOutcome.PASSED, "");
    assertThat(TckSummary.of(result(), true)).contains("\u001b[33mPASSED: 1 of ");

    asked = Set.of("REL-3", "REL-4");
    assertThat(TckSummary.of(result(), true)).contains("\u001b[32mPASSED: 1 of 2 rules shown");
  }

  @Test
  void jsonHasTheSameFigures() {
    add("REL-3", TckOutcome.FAILED, "it \"is\"");

    assertThat(Json.of(result().members()))
        .startsWith("{\"url\": \"memory:\", \"passed\": false, \"complete\": true,")
        .contains("\"MUST\": {\"failed\": 1, \"passed\": 0, \"not-shown\": ")
        .contains(
            "{\"rule\": \"REL-3\", \"level\": \"MUST\", \"result\": \"failed\", \"millis\": 7,"
                + " \"tests\": [{\"name\": \"a sentence\", \"result\": \"failed\","
                + " \"why\": \"it \\\"is\\\"\", \"millis\": 7}]}")
        .contains("\"declared\": [\"EXTENSION\"]", "\"FENCING_TOKEN\"");
  }

  private void add(String rule, TckOutcome outcome, String why) {
    tests.add(test(List.of(rule), outcome, why));
  }

  private static TckTest test(List<String> rules, TckOutcome outcome, String why) {
    return new TckTest(rules, "release", "a sentence", outcome, why, "", Duration.ofMillis(7));
  }

  private TckResult result() {
    return new TckResult(
        new TckSubject("memory:", Map.of(), Set.of(LockCapability.EXTENSION)),
        Instant.EPOCH,
        Duration.ofMillis(1_500),
        asked,
        tests,
        complete);
  }

  private String text() {
    return TckSummary.of(result(), false);
  }
}
