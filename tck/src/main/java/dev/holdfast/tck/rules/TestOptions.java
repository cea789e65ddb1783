package dev.holdfast.tck.rules;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The options of the managers of tests: defaults for a busy machine, and each test's own. */
final class TestOptions {
  private static final String NODE_TIMEOUT = "nodeTimeout";
  private static final String QUORUM_TIMEOUT = "quorumTimeout";
  private static final Set<String> NODE_OPTIONS =
      Set.of(NODE_TIMEOUT, QUORUM_TIMEOUT, "connectTimeout", "connect");

  private final Map<String, String> defaults = new HashMap<>(Map.of("retryDelay", "20ms"));
  private final boolean hasNodeOptions;

  /**
   * Creates the defaults.
   *
   * @param hasNodeOptions whether options about nodes are known. Else they are left out
   */
  TestOptions(boolean hasNodeOptions) {
    this.hasNodeOptions = hasNodeOptions;
    if (hasNodeOptions) {
      // patient, so that a busy machine is not taken for an outage
      defaults.put(NODE_TIMEOUT, "2s");
      defaults.put("connectTimeout", "10s");
    }
  }

  /**
   * Returns the defaults with these options over them.
   *
   * @param options for example {@code nodeTimeout=50ms}, which is the quorumTimeout, too, unless
   *     that is given
   */
  Map<String, String> with(String... options) {
    Map<String, String> merged = new HashMap<>(defaults);
    for (String option : options) {
      int equals = option.indexOf('=');
      merged.put(option.substring(0, equals), option.substring(equals + 1));
    }
    merged.putIfAbsent(QUORUM_TIMEOUT, Objects.toString(merged.get(NODE_TIMEOUT)));
    if (!hasNodeOptions) {
      merged.keySet().removeAll(NODE_OPTIONS);
    }
    return merged;
  }
}
