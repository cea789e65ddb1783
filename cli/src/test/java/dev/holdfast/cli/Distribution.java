package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** What is under test, laid out as the zip is. */
final class Distribution {
  private static final Path SHARED = shared();

  private Distribution() {}

  /** One that has made its archive already, for all tests of this JVM. */
  static Path launcher() {
    return SHARED.resolve("bin/holdfast");
  }

  /** Makes a new one. */
  static void layOut(Path folder) {
    try {
      Path bin = Files.createDirectories(folder.resolve("bin"));
      Path lib = Files.createDirectories(folder.resolve("lib"));
      Files.copy(
          Path.of("..", "holdfast"), bin.resolve("holdfast"), StandardCopyOption.COPY_ATTRIBUTES);
      String classPath = System.getProperty("java.class.path");
      int number = 0;
      for (String entry : classPath.split(Pattern.quote(File.pathSeparator), -1)) {
        // An empty entry, which Surefire leaves, would be the root of the file system to jar.
        Path path = Path.of(entry).toAbsolutePath();
        number++;
        if (entry.endsWith(".jar")) {
          Files.copy(path, lib.resolve(number + "-" + path.getFileName()));
        } else if (!entry.isEmpty() && Files.isDirectory(path) && !path.endsWith("test-classes")) {
          jar(path, lib.resolve("holdfast-cli-" + number + ".jar"));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a jar of a folder. */
  static void jar(Path classes, Path jar) {
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    assertThat(
            tool.run(System.out, System.err, "-c", "-f", jar.toString(), "-C", "" + classes, "."))
        .isZero();
  }

  private static Path shared() {
    try {
      Path folder = Files.createTempDirectory("holdfast-test-");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
      layOut(folder);
      try (Program first =
          Program.start(
              Map.of(), List.of(folder.resolve("bin/holdfast").toString(), "--version"))) {
        assertThat(first.exitCode()).as(first.err()).isZero();
      }
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
