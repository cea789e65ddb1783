package dev.holdfast.cli.run;

import dev.holdfast.cli.process.ProcessContext;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds programs as the system does: by their path, or in the folders of PATH. */
final class SearchPath {
  private static final String WITHOUT_PATH = "/bin:/usr/bin";
  private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator);

  private SearchPath() {}

  /** Returns the first one that can be executed. */
  static Optional<Path> find(String program) {
    return candidates(program).stream().filter(SearchPath::isExecutable).findFirst();
  }

  /** Returns whether there is at least a file of this name, which cannot be executed then. */
  static boolean exists(String program) {
    return candidates(program).stream().anyMatch(Files::exists);
  }

  private static List<Path> candidates(String program) {
    if (program.isEmpty()) {
      return List.of();
    }
    if (program.contains("/")) {
      return List.of(Path.of(program));
    }
    String path = ProcessContext.current().environment().getOrDefault("PATH", WITHOUT_PATH);
    // An empty entry is the current folder.
    return Stream.of(SEPARATOR.split(path, -1)).map(folder -> Path.of(folder, program)).toList();
  }

  private static boolean isExecutable(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
