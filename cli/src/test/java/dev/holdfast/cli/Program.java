package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The command with stdout and stderr in files: in a process of its own where a test is about that,
 * and else in this JVM, which takes a twentieth of the time.
 */
public final class Program implements AutoCloseable {
  /** The signals that nohup, or the {@code &} of a script, ignores for all that they start. */
  private static final List<String> WITH_DEFAULT_SIGNALS =
      List.of("env", "--default-signal=INT,QUIT,HUP");

  private static final boolean RESTORES_SIGNALS = succeeds(WITH_DEFAULT_SIGNALS, "true");

  private final Process process;
  private final Path out;
  private final Path err;

  private Program(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  public static Program holdfast(String... args) {
    return holdfast(Map.of(), args);
  }

  public static Program holdfast(Map<String, String> environment, String... args) {
    List<String> command = new ArrayList<>();
    command.add(Distribution.launcher().toString());
    command.addAll(List.of(args));
    return start(environment, command);
  }

  /** Runs a command in this JVM, where it gets no signals. */
  public static Program inThisJvm(String... args) {
    return inThisJvm(Map.of(), args);
  }

  /** Runs a command in this JVM, where it gets no signals. */
  public static Program inThisJvm(Map<String, String> environment, String... args) {
    try {
      Path out = Files.createTempFile("holdfast-test-", ".out");
      Path err = Files.createTempFile("holdfast-test-", ".err");
      return new Program(new ThisJvm(environment, out, err, args), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static Program start(Map<String, String> environment, List<String> command) {
    try {
      Path out = Files.createTempFile("holdfast-test-", ".out");
      Path err = Files.createTempFile("holdfast-test-", ".err");
      List<String> all = new ArrayList<>(RESTORES_SIGNALS ? WITH_DEFAULT_SIGNALS : List.of());
      all.addAll(command);
      ProcessBuilder builder =
          new ProcessBuilder(all).redirectOutput(out.toFile()).redirectError(err.toFile());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().putAll(environment);
      return new Program(builder.start(), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives it something to read, and the end of it. */
  public Program type(String text) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(text.getBytes(UTF_8));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives it something to read, and more to come. */
  public Program press(String keys) {
    try {
      process.getOutputStream().write(keys.getBytes(UTF_8));
      process.getOutputStream().flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Program awaitOut(String text) {
    return awaitText(this::out, text);
  }

  public Program awaitErr(String text) {
    return awaitText(this::err, text);
  }

  private Program awaitText(Supplier<String> stream, String text) {
    await()
        .atMost(Limits.LONG)
        .untilAsserted(
            () ->
                assertThat(stream.get())
                    .as("runs: %s, %s", process.isAlive(), said())
                    .contains(text));
    return this;
  }

  public Program signal(String name) {
    signal(name, process.pid());
    return this;
  }

  public static void signal(String name, long pid) {
    try {
      Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + pid).start();
      kill.waitFor(Limits.LONG.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits for its end. */
  public int exitCode() {
    return exitCodeWithin(Limits.LONG);
  }

  public int exitCodeWithin(Duration limit) {
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("it does not end; " + said());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  public String out() {
    return read(out);
  }

  public String err() {
    return read(err);
  }

  /** Returns the lines of stderr that are its own, without those of shells about their children. */
  public List<String> messages() {
    return err().lines().filter(line -> line.startsWith("holdfast: ")).toList();
  }

  /** Returns the number that follows a label in stdout. */
  public long number(String label) {
    String after = out().substring(out().indexOf(label) + label.length());
    return Long.parseLong(after.split("\\s", 2)[0]);
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      Files.deleteIfExists(out);
      Files.deleteIfExists(err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String said() {
    return "stdout: " + out() + ", stderr: " + err();
  }

  /**
   * Whether a program that is started here ignores a signal, because our parent does, and no {@code
   * env} changes that.
   *
   * @param exitCode of what the signal ends
   */
  public static boolean ignoresSignalOf(int exitCode) throws IOException {
    Path status = Path.of("/proc/self/status");
    return !RESTORES_SIGNALS
        && Files.exists(status)
        && Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .map(line -> Long.parseUnsignedLong(line.split("\\s+", 2)[1], 16))
            .anyMatch(ignored -> (ignored >> (exitCode - 129) & 1) == 1);
  }

  private static boolean succeeds(List<String> command, String argument) {
    List<String> all = new ArrayList<>(command);
    all.add(argument);
    try {
      return new ProcessBuilder(all)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
