package dev.holdfast.project;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The modules that the build lists, by what their folders contain. */
final class Modules {
  static final Path ROOT = Path.of("..");

  private static final Pattern LISTED = Pattern.compile("<module>([^<]+)</module>");

  private Modules() {}

  /** Returns the folders of the modules with a descriptor: the libraries for users. */
  static List<Path> libraries() {
    return all().filter(module -> has(module, "src/main/java/module-info.java")).toList();
  }

  /** Returns the folders of the modules with a committed list of their public API. */
  static Stream<Path> withPublicApi() {
    return all().filter(module -> has(module, "PublicAPI.txt"));
  }

  /** Returns the folders of the modules whose messages users see. */
  static List<Path> shipped() {
    return all()
        .filter(module -> has(module, "src/main/java"))
        .filter(module -> !text(module.resolve("pom.xml")).contains("Not published.<"))
        .toList();
  }

  private static Stream<Path> all() {
    return LISTED
        .matcher(text(ROOT.resolve("pom.xml")))
        .results()
        .map(module -> ROOT.resolve(module.group(1)));
  }

  private static boolean has(Path module, String file) {
    return Files.exists(module.resolve(file));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
