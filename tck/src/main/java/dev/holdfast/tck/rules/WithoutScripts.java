package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Managers of a user who may run no scripts. */
final class WithoutScripts {
  /** Transactions take turns, and each is several round trips. */
  private static final String QUORUM_TIMEOUT = "15s";

  private WithoutScripts() {}

  /** A manager that needs no scripts. */
  private record Opened(LockManager locks, Map<String, String> options) {}

  /** Opens a manager on these nodes with the first options that need no scripts. */
  static LockManager opened(TckFixture fixture, List<String> uris) {
    return firstOpened(fixture, uris).locks();
  }

  /** Returns the first options with which a manager on these nodes needs no scripts. */
  static String[] options(TckFixture fixture, List<String> uris) {
    return texts(firstOpened(fixture, uris).options());
  }

  private static Opened firstOpened(TckFixture fixture, List<String> uris) {
    List<Map<String, String>> sets = new ArrayList<>(fixture.environment().optionSets());
    sets.add(Map.of());
    for (Map<String, String> options : sets) {
      try {
        Map<String, String> patient = new HashMap<>(options);
        patient.putIfAbsent("quorumTimeout", QUORUM_TIMEOUT);
        return new Opened(fixture.openOn(uris, texts(patient)), options);
      } catch (LockConfigurationException needsScripts) {
        IgnoredFailures.add(needsScripts);
      }
    }
    return abort("these managers need scripts, and say so");
  }

  static String[] texts(Map<String, String> options) {
    return options.entrySet().stream()
        .map(option -> option.getKey() + "=" + option.getValue())
        .toArray(String[]::new);
  }
}
