package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Managers of a user who may run no scripts. */
final class WithoutScripts {
  private WithoutScripts() {}

  /** Opens a manager on these nodes with the first options that need no scripts. */
  static LockManager opened(TckFixture fixture, List<String> uris) {
    return opened(fixture, options -> fixture.openOn(uris, options));
  }

  /** Does the same with another way to open a manager. */
  static LockManager opened(TckFixture fixture, Function<String[], LockManager> opener) {
    List<Map<String, String>> sets = new ArrayList<>(fixture.environment().optionSets());
    sets.add(Map.of());
    for (Map<String, String> options : sets) {
      try {
        return opener.apply(texts(options));
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
