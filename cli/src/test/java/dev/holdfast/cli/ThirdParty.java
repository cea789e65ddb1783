package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.LockProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import javax.tools.ToolProvider;

/** Third-party backends, each compiled into a jar of its own. */
public final class ThirdParty {
  private ThirdParty() {}

  /** Serves {@code third:}, with locks in memory. */
  public static Path backend(Path folder) {
    return jar(folder, "third", "url.scheme().equals(\"third\")", "LockManager.open(\"memory:\")");
  }

  /** Serves {@code redlock:mine:} and {@code redlock:}, by Lettuce in truth. */
  public static Path driver(Path folder) {
    return jar(
        folder,
        "mine",
        "url.scheme().equals(\"redlock\") && url.driver().orElse(\"mine\").equals(\"mine\")",
        "LockManager.open(\"redlock:lettuce:\" + url.addresses().orElseThrow()"
            + " + \"?connectTimeout=30s\")");
  }

  /** Serves {@code passing:} and a list of nodes, by Lettuce and with all its options. */
  public static Path passingOn(Path folder) {
    return jar(
        folder,
        "passing",
        "url.scheme().equals(\"passing\")",
        "new dev.holdfast.redlock.lettuce.LettuceProvider().open(url)");
  }

  /** Cannot be made. */
  public static Path broken(Path folder) {
    return jar(
        folder, "broken", "true", "null", "throw new IllegalStateException(\"no licence\");");
  }

  /** Serves {@code sound:}, with locks that all its managers share. */
  public static Path sound(Path folder) {
    return sharing(folder, "sound", "result");
  }

  /** The same as {@code unsound:}, but a release reports that the lease had been lost. */
  public static Path unsound(Path folder) {
    return sharing(
        folder,
        "unsound",
        "m.getName().equals(\"release\") ? (Object) false"
            + " : m.getName().equals(\"releaseAsync\") ? CompletableFuture.completedFuture(false)"
            + " : result");
  }

  /** The same as {@code unfinished:}, but a class is missing for those who look who holds. */
  public static Path unfinished(Path folder) {
    return sharing(
        folder,
        "unfinished",
        "m.getName().equals(\"inspect\")"
            + " ? Optional.empty().orElseThrow(() -> new NoClassDefFoundError(\"org/Missing\"))"
            + " : result");
  }

  /**
   * Serves {@code redlock:full:}, by Lettuce in truth. Once there is the file that the variable
   * FILL names, it fills the heap for good.
   */
  public static Path filling(Path folder) {
    return wrapping(
        folder,
        "full",
        "url.scheme().equals(\"redlock\") && url.driver().orElse(\"\").equals(\"full\")",
        "LockManager.open(\"redlock:lettuce:\" + url.addresses().orElseThrow()"
            + ""
            + " + \"?nodeTimeout=\" + url.text(\"nodeTimeout\", \"50ms\"))",
        "new java.io.File(System.getenv(\"FILL\")).exists()"
            + " ? (Object) java.util.stream.Stream.generate("
            + "() -> System.getProperties().put(new Object(), new byte[1024]))"
            + ".noneMatch(x -> false) : result");
  }

  private static Path sharing(Path folder, String name, String answer) {
    return wrapping(
        folder,
        name,
        "url.scheme().equals(name())",
        "LockManager.open(\"memory:third\", options)",
        answer);
  }

  private static Path wrapping(
      Path folder, String name, String accepts, String opened, String answer) {
    return compiled(
        folder,
        name,
        """
        package org.third;
        import dev.holdfast.*;
        import dev.holdfast.spi.*;
        import java.lang.reflect.*;
        import java.util.*;
        import java.util.concurrent.CompletableFuture;
        public final class %s implements LockProvider {
          @Override public String name() { return "%s"; }
          @Override public boolean accepts(LockUrl url) { return %s; }
          @Override public LockManager open(LockUrl url) {
            url.requireKnownOptions(Set.of("owner", "maxTtl", "nodeTimeout", "retryDelay"));
            Map<String, String> options = new HashMap<>();
            for (String option : List.of("owner", "maxTtl", "retryDelay")) {
              options.put(option, url.text(option, ""));
            }
            options.values().removeIf(String::isEmpty);
            return wrapped(LockManager.class, %s);
          }
          private static Object passed(Object result) {
            if (result instanceof Optional<?> maybe) return maybe.map(%1$s::passed);
            if (result instanceof CompletableFuture<?> later) return later.thenApply(%1$s::passed);
            return result instanceof Lease lease ? wrapped(Lease.class, lease) : result;
          }
          private static <T> T wrapped(Class<T> type, T real) {
            return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                (proxy, m, args) -> {
                  try {
                    if (m.getName().equals("backend")) return "%2$s";
                    Object result = passed(m.invoke(real, args));
                    return %s;
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                }));
          }
        }
        """
            .formatted(typeOf(name), name, accepts, opened, answer));
  }

  private static Path jar(Path folder, String name, String accepts, String opened) {
    return jar(folder, name, accepts, opened, "");
  }

  private static Path jar(
      Path folder, String name, String accepts, String opened, String constructor) {
    String type = typeOf(name);
    return compiled(
        folder,
        name,
        """
        package org.third;
        import dev.holdfast.LockManager;
        import dev.holdfast.spi.LockUrl;
        public final class %s implements dev.holdfast.spi.LockProvider {
          public %s() { %s }
          @Override public String name() { return "%s"; }
          @Override public boolean accepts(LockUrl url) { return %s; }
          @Override public LockManager open(LockUrl url) { return %s; }
        }
        """
            .formatted(type, type, constructor, name, accepts, opened));
  }

  private static String typeOf(String name) {
    return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
  }

  private static Path compiled(Path folder, String name, String text) {
    String type = typeOf(name);
    try {
      Path classes = Files.createDirectories(folder.resolve(name));
      Path source = Files.writeString(classes.resolve(type + ".java"), text);
      assertThat(
              ToolProvider.getSystemJavaCompiler()
                  .run(null, null, null, "-d", "" + classes, "" + source))
          .isZero();
      Files.writeString(
          Files.createDirectories(classes.resolve("META-INF/services"))
              .resolve(LockProvider.class.getName()),
          "org.third." + type);
      Path jar = folder.resolve(name + ".jar");
      Distribution.jar(classes, jar);
      return jar;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
