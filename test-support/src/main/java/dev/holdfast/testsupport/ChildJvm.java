package dev.holdfast.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM of the same version, which sees nothing of this one's class path. */
public final class ChildJvm {
  /** Contexts of Spring Boot take half a minute on a busy machine. */
  private static final long LIMIT_SECONDS = 200;

  private ChildJvm() {}

  /**
   * Runs a program to its end.
   *
   * @param folder for the file that gets the output
   * @param arguments the options of the JVM, the program and its arguments
   * @return the output and the error output, in the order in which they were printed
   * @throws AssertionError with the output, if the program ends with an exit code above 0, or has
   *     not ended after 200 s
   */
  public static String run(Path folder, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto"));
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile(folder, "output", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process = builder.start();
    try {
      boolean hasEnded = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String printed = Files.readString(output);
      if (!hasEnded || process.exitValue() != 0) {
        String end = hasEnded ? "ended with exit code " + process.exitValue() : "did not end";
        throw new AssertionError(command + " " + end + "; it printed:\n" + printed);
      }
      return printed;
    } finally {
      process.destroyForcibly();
    }
  }
}
