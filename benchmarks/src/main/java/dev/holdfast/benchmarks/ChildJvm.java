package dev.holdfast.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM with our class path, which answers by lines. */
final class ChildJvm implements AutoCloseable {
  private static final long END_SECONDS = 10;

  /** Characters of stderr that are kept. */
  private static final int MAX_SAID = 500;

  private final Process process;
  private final BufferedReader lines;
  private final Path said;

  private ChildJvm(Process process, Path said) {
    this.process = process;
    this.said = said;
    this.lines = process.inputReader(StandardCharsets.US_ASCII);
  }

  /**
   * Starts one.
   *
   * @param options for the JVM
   */
  static ChildJvm start(List<String> options, Class<?> main, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(arguments);
    Path said = Files.createTempFile("holdfast-bench-", ".log");
    return new ChildJvm(new ProcessBuilder(command).redirectError(said.toFile()).start(), said);
  }

  /** Lets it go on. */
  void go() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  /** Waits for its next line. */
  String line() throws IOException {
    String line = lines.readLine();
    if (line == null) {
      String last = Files.readString(said).strip();
      throw new IOException(
          "its process has ended without an answer: "
              + last.substring(Math.max(0, last.length() - MAX_SAID)));
    }
    return line;
  }

  /** Ends it, and returns when it has ended. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      Files.deleteIfExists(said);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
