package dev.holdfast.cli.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.FoundBackend;
import dev.holdfast.cli.backend.Origin;
import dev.holdfast.cli.backend.Providers;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.command.Version;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The backend of a run of the kit.
 *
 * @param url passwords hidden
 * @param facts text by heading: versions and the like
 * @param declared the capabilities that its managers declare
 */
record TckSubject(String url, Map<String, String> facts, Set<LockCapability> declared) {
  private static final Map<String, String> NODE_OPTIONS =
      Map.of(
          "nodeTimeout", "2s", "quorumTimeout", "2s", "connectTimeout", "10s", "connect", "eager");

  /** Describes the backend, for which a manager is opened. */
  static TckSubject of(TckTarget target, TckEnvironment environment) {
    Map<String, String> facts = new LinkedHashMap<>();
    Providers.first(provider -> provider.accepts(target.parsed()))
        .map(FoundBackend::of)
        .ifPresent(
            backend -> {
              String jar = backend.type().flatMap(Origin::of).map(Origin::file).orElse("");
              facts.put("backend", backend.name().orElse("") + ", " + jar);
              backend.driver().ifPresent(o -> facts.put("driver", o.file()));
            });
    facts.putAll(environment.facts());
    facts.put("holdfast", Version.number());
    facts.put(
        "java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    facts.put(
        "system",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch")
            + ", "
            + Runtime.getRuntime().availableProcessors()
            + " processors");
    try (LockManager manager = opened(environment)) {
      return new TckSubject(target.shown(), facts, new TreeSet<>(manager.capabilities()));
    }
  }

  /**
   * Opens a manager with the options of the kit's tests. An option that the backend does not have
   * is found early.
   */
  private static LockManager opened(TckEnvironment environment) {
    if (!environment.hasNodeOptions()) {
      return environment.open(Map.of());
    }
    try {
      return environment.open(NODE_OPTIONS);
    } catch (LockConfigurationException refused) {
      environment.open(Map.of()).close(); // throws if not only the options are refused
      throw new UsageException(
          refused.getMessage()
              + System.lineSeparator()
              + "A backend without the options "
              + String.join(", ", new TreeSet<>(NODE_OPTIONS.keySet()))
              + " is tested with --no-node-options.");
    }
  }

  /** Returns the undeclared capabilities in the order of the API. */
  List<LockCapability> undeclared() {
    List<LockCapability> undeclared = new ArrayList<>(List.of(LockCapability.values()));
    undeclared.removeAll(declared);
    return undeclared;
  }
}
