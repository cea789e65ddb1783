package dev.holdfast.cli.tck;

import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import dev.holdfast.tck.SpecRule.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The result of a run of the kit.
 *
 * @param begun the time of its beginning
 * @param time how long it took
 * @param asked the rules whose tests should have been run, or none for all rules
 * @param tests in the order in which they ended
 * @param complete false if a signal ended it before all tests were over
 */
record TckResult(
    TckSubject subject,
    Instant begun,
    Duration time,
    Set<String> asked,
    List<TckTest> tests,
    boolean complete) {

  /** Returns all rules of SPEC.md, in its order. */
  List<TckRule> rules() {
    return Spec.rules().values().stream().map(this::rule).toList();
  }

  private TckRule rule(SpecRule rule) {
    List<TckTest> proofs = tests.stream().filter(test -> test.rules().contains(rule.id())).toList();
    if (!asked.isEmpty() && !asked.contains(rule.id())) {
      return new TckRule(rule, proofs, TckRule.NOT_ASKED_FOR);
    }
    return new TckRule(
        rule,
        proofs,
        complete
            ? "no manager alone can show it; docs/rules.md lists the tests"
            : "the run was ended before");
  }

  /** Returns the failures of the kit itself, which show nothing about a rule. */
  List<TckTest> troubles() {
    return tests.stream()
        .filter(test -> test.rules().isEmpty() && test.outcome() == TckOutcome.FAILED)
        .toList();
  }

  long count(Level level, TckOutcome outcome) {
    return rules().stream()
        .filter(rule -> rule.rule().level() == level && rule.outcome() == outcome)
        .count();
  }

  /** Returns the levels that SPEC.md uses. */
  List<Level> levels() {
    return Stream.of(Level.values())
        .filter(level -> rules().stream().anyMatch(rule -> rule.rule().level() == level))
        .toList();
  }

  /**
   * Returns whether a rule passed, and neither a rule nor the kit itself failed. A SHOULD counts,
   * too: a backend that breaks it on purpose lists it as broken by design.
   */
  boolean isPassed() {
    return troubles().isEmpty() && all(TckOutcome.FAILED) == 0 && all(TckOutcome.PASSED) > 0;
  }

  private long all(TckOutcome outcome) {
    return levels().stream().mapToLong(level -> count(level, outcome)).sum();
  }

  private boolean isNotShown(TckRule rule) {
    boolean isAsked = asked.isEmpty() || asked.contains(rule.rule().id());
    return isAsked && rule.outcome() == TckOutcome.NOT_SHOWN;
  }

  private long askedFor() {
    return asked.isEmpty() ? rules().size() : asked.size();
  }

  private long shown() {
    return askedFor() - rules().stream().filter(this::isNotShown).count();
  }

  /**
   * Returns whether at least half of the rules that were asked for were shown to be kept or broken.
   */
  boolean isMostlyShown() {
    return 2 * shown() >= askedFor();
  }

  int exitCode() {
    return isPassed() ? ExitCode.OK : ExitCode.NO;
  }

  /** Returns the verdict in a few words. */
  String verdict() {
    List<String> parts = new ArrayList<>();
    if (!troubles().isEmpty()) {
      parts.add("the kit could not do all of its work");
    }
    for (Level level : levels()) {
      long failed = count(level, TckOutcome.FAILED);
      if (failed > 0) {
        parts.add(failed + " " + level + " failed");
      }
    }
    long passed = all(TckOutcome.PASSED);
    parts.add(shown() + " of " + askedFor() + (askedFor() == 1 ? " rule shown" : " rules shown"));
    if (!complete) {
      parts.add("ended early");
    }
    boolean isFailed = !troubles().isEmpty() || all(TckOutcome.FAILED) > 0;
    String word = isFailed ? "FAILED: " : passed > 0 ? "PASSED: " : "NOTHING SHOWN: ";
    return word + String.join(", ", parts);
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("url", subject.url());
    members.put("passed", isPassed());
    members.put("complete", complete);
    members.put("begun", begun);
    members.put("millis", time.toMillis());
    members.put("environment", subject.facts());
    members.put("declared", List.copyOf(subject.declared()));
    members.put("undeclared", subject.undeclared());
    Map<String, Object> levels = new LinkedHashMap<>();
    for (Level level : levels()) {
      Map<String, Object> counts = new LinkedHashMap<>();
      for (TckOutcome outcome : TckOutcome.values()) {
        counts.put(outcome.id(), count(level, outcome));
      }
      levels.put(level.name(), counts);
    }
    members.put("levels", levels);
    members.put("rules", rules().stream().map(TckRule::members).toList());
    members.put("troubles", troubles().stream().map(TckTest::members).toList());
    return members;
  }
}
