package dev.holdfast.cli.backend;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A backend that was found.
 *
 * @param name its short name, or empty if it is too broken to have one
 * @param type its provider
 * @param serves how URLs that it serves begin
 * @param driver the library that it needs, if it needs one that is known here
 * @param broken why it cannot be used
 */
public record FoundBackend(
    Optional<String> name,
    Optional<Class<? extends LockProvider>> type,
    List<String> serves,
    Optional<Origin> driver,
    Optional<String> broken) {
  /** A class of the library under each of our own backends. */
  private static final Map<String, String> DRIVERS =
      Map.of(
          "dev.holdfast.redlock.jedis.JedisProvider", "redis.clients.jedis.Jedis",
          "dev.holdfast.redlock.lettuce.LettuceProvider", "io.lettuce.core.RedisClient",
          "dev.holdfast.redlock.redisson.RedissonProvider", "org.redisson.Redisson");

  /**
   * The schemes that are tried. A provider tells only whether it serves a URL, not which URLs it
   * serves.
   */
  private static final List<String> KNOWN_SCHEMES =
      List.of("redlock", "memory", "setnx", "migrate");

  private static final List<String> TARGETS = List.of("", "both", "redis://localhost");

  /** Returns all backends, the broken ones last. */
  static List<FoundBackend> all() {
    List<FoundBackend> all = new ArrayList<>();
    Set<FoundBackend> broken = new LinkedHashSet<>();
    Providers.all(provider -> all.add(of(provider)), failed -> broken.add(of(failed)));
    all.addAll(broken);
    return all;
  }

  public static FoundBackend of(LockProvider provider) {
    Class<? extends LockProvider> type = provider.getClass();
    Optional<Origin> driver = Optional.empty();
    Optional<String> broken = Optional.empty();
    String needed = DRIVERS.get(type.getName());
    if (needed != null) {
      try {
        driver = Origin.of(Class.forName(needed, false, type.getClassLoader()));
      } catch (ClassNotFoundException e) {
        broken = Optional.of("its driver is missing: there is no " + needed);
      }
    }
    String name = provider.name();
    return new FoundBackend(
        Optional.of(name), Optional.of(type), serves(provider, name), driver, broken);
  }

  private static FoundBackend of(BrokenBackend failed) {
    return new FoundBackend(
        Optional.empty(), failed.type(), List.of(), Optional.empty(), Optional.of(failed.why()));
  }

  private static List<String> serves(LockProvider provider, String name) {
    return Stream.concat(KNOWN_SCHEMES.stream(), Stream.of(name))
        .distinct()
        .flatMap(
            scheme ->
                scheme.equals(name)
                    ? Stream.of(scheme + ":")
                    : Stream.of(scheme + ":", scheme + ":" + name + ":"))
        .filter(start -> TARGETS.stream().anyMatch(target -> accepts(provider, start + target)))
        .toList();
  }

  /** Returns whether a provider serves a URL. False if the text is no URL. */
  static boolean accepts(LockProvider provider, String url) {
    LockUrl parsed;
    try {
      parsed = LockUrl.parse(url, Map.of());
    } catch (LockConfigurationException e) {
      return false;
    }
    return provider.accepts(parsed);
  }

  String text() {
    List<String> lines = new ArrayList<>();
    lines.add(name.orElse("(a backend that cannot be loaded)"));
    broken.ifPresent(why -> lines.add("BROKEN  " + why));
    if (broken.isEmpty()) {
      lines.add(
          "serves  "
              + (serves.isEmpty()
                  ? "a kind of URL that only it knows"
                  : String.join("  ", serves)));
    }
    type.ifPresent(t -> lines.add("class   " + t.getName()));
    type.flatMap(Origin::of).ifPresent(jar -> lines.add("jar     " + jar.text()));
    driver.ifPresent(jar -> lines.add("driver  " + jar.text()));
    return String.join(System.lineSeparator() + "  ", lines);
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    name.ifPresent(n -> members.put("name", n));
    type.ifPresent(t -> members.put("class", t.getName()));
    type.flatMap(Origin::of).ifPresent(jar -> members.putAll(jar.members()));
    driver.ifPresent(jar -> members.put("driver", jar.members()));
    members.put("serves", serves);
    members.put("broken", broken.isPresent());
    broken.ifPresent(why -> members.put("why", why));
    return members;
  }
}
