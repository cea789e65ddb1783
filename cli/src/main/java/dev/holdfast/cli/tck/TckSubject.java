package dev.holdfast.cli.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.FoundBackend;
import dev.holdfast.cli.backend.Origin;
import dev.holdfast.cli.backend.Providers;
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

  /** Looks at what there is, which takes a manager. */
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
    Map<String, String> patient =
        environment.hasNodeOptions() ? Map.of("connectTimeout", "10s") : Map.of();
    try (LockManager manager = environment.open(patient)) {
      return new TckSubject(target.shown(), facts, new TreeSet<>(manager.capabilities()));
    }
  }

  /** Returns the undeclared capabilities in the order of the API. */
  List<LockCapability> undeclared() {
    List<LockCapability> undeclared = new ArrayList<>(List.of(LockCapability.values()));
    undeclared.removeAll(declared);
    return undeclared;
  }
}
