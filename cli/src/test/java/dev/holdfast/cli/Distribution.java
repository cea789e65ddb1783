package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** The program under test, laid out as the zip is. */
public final class Distribution {
  private static final String FIRST_STDERR = "first.err";

  private static final Path SCRIPT = Path.of("src", "assembly", "holdfast");
  private static final Path OWN_CLASSES = Path.of("target", "classes").toAbsolutePath();

  private static final Path SHARED = shared(Path.of("target", "test-distributions"));

  private Distribution() {}

  /** Returns one that has made its archive already, for the tests of all JVMs of a build. */
  public static Path launcher() {
    return SHARED.resolve("bin/holdfast");
  }

  /** Returns what the first command of that one printed on stderr. */
  static String firstStderr() {
    try {
      return Files.readString(SHARED.resolve(FIRST_STDERR));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a new one. */
  public static void layOut(Path folder) {
    try {
      Path bin = Files.createDirectories(folder.resolve("bin"));
      Path lib = Files.createDirectories(folder.resolve("lib"));
      Files.copy(SCRIPT, bin.resolve("holdfast"), StandardCopyOption.COPY_ATTRIBUTES);
      List<String> others = new ArrayList<>();
      for (String entry : classPath()) {
        // An empty entry, which Surefire leaves, would be the root of the file system to jar.
        Path path = Path.of(entry).toAbsolutePath();
        if (entry.endsWith(".jar")) {
          others.add(others.size() + "-" + path.getFileName());
          Files.createSymbolicLink(lib.resolve(others.get(others.size() - 1)), path);
        } else if (!entry.isEmpty()
            && Files.isDirectory(path)
            && !path.endsWith("test-classes")
            && !path.equals(OWN_CLASSES)) {
          others.add(others.size() + "-classes.jar");
          jar(path, lib.resolve(others.get(others.size() - 1)));
        }
      }
      Path manifest = Files.writeString(folder.resolve("manifest"), manifest(others));
      jar(OWN_CLASSES, lib.resolve("holdfast-cli.jar"), "-m", manifest.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a jar of a folder. */
  static void jar(Path classes, Path jar, String... more) {
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    List<String> args = new ArrayList<>(List.of("-c", "-f", jar.toString()));
    args.addAll(List.of(more));
    args.addAll(List.of("-C", classes.toString(), "."));
    assertThat(tool.run(System.out, System.err, args.toArray(String[]::new))).isZero();
  }

  /** Names the other jars, one in a line, because lines are short in manifests. */
  private static String manifest(List<String> others) {
    return "Class-Path: " + String.join("\n  ", others) + "\n";
  }

  private static String[] classPath() {
    return System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator), -1);
  }

  /** Finds the one of this very class path, or makes it, which takes as long as ten launches. */
  private static Path shared(Path place) {
    try {
      Files.createDirectories(place);
      try (FileChannel channel =
              FileChannel.open(
                  place.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        assertThat(lock.isValid()).isTrue();
        Path folder = place.resolve(UUID.nameUUIDFromBytes(state().getBytes(UTF_8)).toString());
        if (!Files.exists(folder.resolve(FIRST_STDERR))) {
          deleteFolders(place);
          layOut(folder);
          try (Program first =
              Program.start(
                  Map.of(), List.of(folder.resolve("bin/holdfast").toString(), "backends"))) {
            assertThat(first.exitCodeWithin(Limits.LONG.multipliedBy(3))).as(first.err()).isZero();
            assertThat(first.out()).contains("lettuce");
            Files.writeString(folder.resolve(FIRST_STDERR), first.err());
          }
        }
        return folder.toAbsolutePath();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Lists all that a distribution is made of, each file with its size and its age. */
  private static String state() throws IOException {
    List<String> all = new ArrayList<>(List.of(System.getProperty("java.home")));
    List<Path> roots = new ArrayList<>(List.of(SCRIPT));
    Stream.of(classPath()).filter(entry -> !entry.isEmpty()).map(Path::of).forEach(roots::add);
    for (Path root : roots) {
      if (Files.exists(root) && !root.endsWith("test-classes")) {
        try (Stream<Path> files = Files.walk(root)) {
          for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
            all.add(file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
          }
        }
      }
    }
    return String.join("\n", all);
  }

  private static void deleteFolders(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      files
          .sorted(Comparator.reverseOrder())
          .filter(file -> !file.equals(place) && !file.endsWith("lock"))
          .forEach(file -> assertThat(file.toFile().delete()).isTrue());
    }
  }
}
