package dev.holdfast;

import dev.holdfast.internal.SpellingSuggestions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Messages for a URL that has no backend, or several. The names of this project's backends stand
 * here and not in the backends, because a backend whose jar is missing cannot name the jar.
 */
final class ProviderErrors {
  private static final Set<String> REDLOCK_DRIVERS = Set.of("jedis", "lettuce", "redisson");

  /** The artifacts of this project's backends, by scheme. */
  private static final Map<String, String> ARTIFACTS =
      Map.of(
          "redlock", "holdfast-redlock-lettuce", // or another driver
          "memory", "holdfast-memory",
          "setnx", "holdfast-legacy-setnx-getset",
          "migrate", "holdfast-legacy-setnx-getset");

  private ProviderErrors() {}

  static LockConfigurationException none(
      LockUrl url, List<LockProvider> working, List<BrokenProvider> broken) {
    List<String> lines = new ArrayList<>();
    lines.add("no backend serves " + url + "; " + advice(url));
    lines.add(working.isEmpty() ? "found: none" : "found:");
    working.forEach(provider -> lines.add("  " + ProviderDescription.of(provider)));
    if (!broken.isEmpty()) {
      lines.add("broken:");
      broken.forEach(failed -> lines.add("  " + failed));
    }
    LockConfigurationException error =
        new LockConfigurationException(
            String.join("\n", lines), broken.isEmpty() ? null : broken.get(0).why());
    broken.stream().skip(1).forEach(failed -> error.addSuppressed(failed.why()));
    return error;
  }

  private static String advice(LockUrl url) {
    String artifact = ARTIFACTS.get(url.scheme());
    if (artifact == null) {
      return "there is no kind of lock '"
          + url.scheme()
          + "' here: "
          + nearest(url.scheme(), ARTIFACTS.keySet())
          + "; a backend of a third party needs its jar on the class path or module path";
    }
    if (url.scheme().equals("redlock")) {
      if (url.addresses().isEmpty()) {
        return "the nodes are missing: write redlock:redis://host:6379,redis://host2:6379";
      }
      if (url.driver().isEmpty()) {
        return "add one driver to the class path or module path: "
            + "dev.holdfast:holdfast-redlock-jedis, -lettuce or -redisson";
      }
      String driver = url.driver().get();
      if (!REDLOCK_DRIVERS.contains(driver)) {
        return "there is no driver '"
            + driver
            + "' here: "
            + nearest(driver, REDLOCK_DRIVERS)
            + "; leave it out for the one that is on the class path";
      }
      artifact = "holdfast-redlock-" + driver;
    }
    return "add dev.holdfast:" + artifact + " to the class path or module path";
  }

  private static String nearest(String word, Set<String> known) {
    return SpellingSuggestions.to(word, known)
        .map(near -> "the nearest is " + near)
        .orElseGet(() -> "there are " + String.join(", ", new TreeSet<>(known)));
  }

  static LockConfigurationException several(LockUrl url, List<LockProvider> accepting) {
    String afterScheme = url.toString().substring(url.scheme().length());
    List<String> lines = new ArrayList<>();
    lines.add("several backends serve " + url + "; choose one, or leave the others' jars out");
    for (LockProvider provider : accepting) {
      lines.add("  " + ProviderDescription.of(provider));
      if (url.driver().isEmpty()) {
        lines.add("    write " + url.scheme() + ":" + provider.name() + afterScheme);
      }
    }
    return new LockConfigurationException(String.join("\n", lines));
  }

  static LockConfigurationException unfit(BrokenProvider broken) {
    return new LockConfigurationException("this backend cannot be used: " + broken, broken.why());
  }
}
