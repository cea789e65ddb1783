package dev.holdfast.cli.tck;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A test of the kit and what came of it.
 *
 * @param rules that it proves; none if the kit itself failed
 * @param group that it belongs to, for example {@code keep alive}; empty if it is around them
 * @param name a sentence
 * @param why it failed or showed nothing; else empty
 * @param trace where it failed; else empty
 */
record TckTest(
    List<String> rules,
    String group,
    String name,
    TckOutcome outcome,
    String why,
    String trace,
    Duration time) {

  /** The group and the name. */
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
