package dev.holdfast.cli.tck;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A test of the kit and its outcome.
 *
 * @param rules the rules that it proves, or none if the kit itself failed
 * @param group its group, for example {@code keep alive}, or empty if it belongs to none
 * @param name a sentence
 * @param why the reason why it failed or showed nothing, or empty
 * @param trace the stack trace of its failure, or empty
 */
record TckTest(
    List<String> rules,
    String group,
    String name,
    TckOutcome outcome,
    String why,
    String trace,
    Duration time) {

  /** Returns the group and the name. */
  String title() {
    return group.isEmpty() ? name : group + ": " + name;
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("result", outcome.id());
    if (!why.isEmpty()) {
      members.put("why", why);
    }
    members.put("millis", time.toMillis());
    return members;
  }
}
