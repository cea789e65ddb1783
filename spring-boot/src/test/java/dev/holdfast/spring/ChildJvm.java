package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A JVM of its own for a program of the tests.
 *
 * @param folder for its output
 * @param options of the JVM
 * @param before entries of the class path before those of this JVM
 * @param absent parts of the names of entries of this JVM's class path, without the folders that
 *     all have, that the other JVM does not have
 */
record ChildJvm(Path folder, List<String> options, List<Path> before, List<String> absent) {
  private static final long LIMIT_SECONDS = 200;

  ChildJvm(Path folder) {
    this(folder, List.of(), List.of(), List.of());
  }

  ChildJvm withOptions(String... all) {
    return new ChildJvm(folder, List.of(all), before, absent);
  }

  ChildJvm withClassPath(Path... entries) {
    return new ChildJvm(folder, options, List.of(entries), absent);
  }

  ChildJvm without(List<String> parts) {
    return new ChildJvm(
        folder, options, before, Stream.concat(absent.stream(), parts.stream()).toList());
  }

  /** Returns the last three names: those of an artifact, or of a module's classes. */
  private static String endOf(String entry) {
    Path path = Path.of(entry);
    int count = path.getNameCount();
    return path.subpath(Math.max(0, count - 3), count).toString();
  }

  /** Runs a program, and returns the lines that it printed. Fails if its exit code is not 0. */
  List<String> run(Class<?> main, List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(options);
    command.add("-cp");
    command.add(
        Stream.concat(
                before.stream().map(Path::toString),
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> absent.stream().noneMatch(endOf(entry)::contains)))
            .collect(Collectors.joining(File.pathSeparator)));
    command.add(main.getName());
    command.addAll(arguments);
    Path output = folder.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean hasEnded = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      List<String> lines = Files.readAllLines(output);
      assertThat(hasEnded).as("the process ended: %s", String.join("\n", lines)).isTrue();
      assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }
}
