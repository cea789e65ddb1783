package dev.holdfast.cli.tck;

import dev.holdfast.cli.command.UsageException;
import dev.holdfast.internal.SpellingSuggestions;
import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A rule of SPEC.md and what came of its tests.
 *
 * @param tests those that were begun or left out
 * @param absent why there are none, if there are none
 */
record TckRule(SpecRule rule, List<TckTest> tests, String absent) {
  static final String NOT_ASKED_FOR = "not asked for";

  /**
   * Returns the rules that an option names.
   *
   * @param text an id, or the part of ids before the hyphen
   * @throws UsageException if there is no such rule
   */
  static List<String> idsOf(String text) {
    String asked = text.strip().toUpperCase(Locale.ROOT);
    Set<String> all = Spec.rules().keySet();
    List<String> meant =
        all.stream().filter(id -> id.equals(asked) || id.startsWith(asked + "-")).toList();
    if (meant.isEmpty()) {
      throw new UsageException(
          "there is no rule '"
              + text
              + "'"
              + SpellingSuggestions.to(text, all).map(id -> "; the nearest is " + id).orElse("")
              + ", and groups are "
              + all.stream()
                  .map(id -> id.replaceFirst("-.*", ""))
                  .distinct()
                  .collect(Collectors.joining(" ")));
    }
    return meant;
  }

  /**
   * Refuses what is no rule.
   *
   * @throws UsageException if there is no rule of this id
   */
  static void requireId(String id) {
    if (!Spec.rules().containsKey(id)) {
      throw new UsageException(
          "there is no rule '"
              + id
              + "'"
              + SpellingSuggestions.to(id, Spec.rules().keySet())
                  .map(n -> "; the nearest is " + n)
                  .orElse(""));
    }
  }

  /**
   * Returns the outcome: a rule is broken if one of its tests fails, and kept if none fails and one
   * passes.
   */
  TckOutcome outcome() {
    return tests.stream()
        .map(TckTest::outcome)
        .min(TckOutcome::compareTo)
        .orElse(TckOutcome.NOT_SHOWN);
  }

  /** Returns why its tests showed nothing, or that there are none. Each reason is given once. */
  List<String> reasons() {
    return tests.isEmpty()
        ? List.of(absent)
        : tests.stream()
            .filter(test -> test.outcome() == TckOutcome.NOT_SHOWN)
            .map(TckTest::why)
            .distinct()
            .toList();
  }

  long count(TckOutcome outcome) {
    return tests.stream().filter(test -> test.outcome() == outcome).count();
  }

  Duration time() {
    return tests.stream().map(TckTest::time).reduce(Duration.ZERO, Duration::plus);
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("rule", rule.id());
    members.put("level", rule.level());
    members.put("result", outcome().id());
    members.put("millis", time().toMillis());
    if (tests.isEmpty()) {
      members.put("why", absent);
    }
    members.put("tests", tests.stream().map(TckTest::members).toList());
    return members;
  }
}
