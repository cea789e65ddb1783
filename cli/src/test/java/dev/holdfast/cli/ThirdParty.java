package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.LockProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import javax.tools.ToolProvider;

/** Backends that somebody else has made, each compiled into a jar of its own. */
final class ThirdParty {
  private ThirdParty() {}

  /** Serves {@code third:}, with locks in memory. */
  static Path backend(Path folder) {
    return jar(folder, "third", "url.scheme().equals(\"third\")", "LockManager.open(\"memory:\")");
  }

  /** Serves {@code redlock:mine:} and {@code redlock:}, by Lettuce in truth. */
  static Path driver(Path folder) {
    return jar(
        folder,
        "mine",
        "url.scheme().equals(\"redlock\") && url.driver().orElse(\"mine\").equals(\"mine\")",
        "LockManager.open(\"redlock:lettuce:\" + url.nodes().stream().map(Object::toString)"
            + ".collect(java.util.stream.Collectors.joining(\",\")))");
  }

  /** Cannot be made. */
  static Path broken(Path folder) {
    return jar(
        folder, "broken", "true", "null", "throw new IllegalStateException(\"no licence\");");
  }

  private static Path jar(Path folder, String name, String accepts, String opened) {
    return jar(folder, name, accepts, opened, "");
  }

  private static Path jar(
      Path folder, String name, String accepts, String opened, String constructor) {
    String type = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    try {
      Path classes = Files.createDirectories(folder.resolve(name));
      Path source = classes.resolve(type + ".java");
      Files.writeString(
          source,
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
