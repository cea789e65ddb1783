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

/** The command in a process of its own, with stdout and stderr in files. */
final class Program implements AutoCloseable {
  private final Process process;
  private final Path out;
  private final Path err;

  private Program(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static Program holdfast(String... args) {
    return holdfast(Map.of(), args);
  }

  static Program holdfast(Map<String, String> environment, String... args) {
    List<String> command = new ArrayList<>();
    command.add(Distribution.launcher().toString());
    command.addAll(List.of(args));
    return start(environment, command);
  }

  static Program start(Map<String, String> environment, List<String> command) {
    try {
      Path out = Files.createTempFile("holdfast-test-", ".out");
      Path err = Files.createTempFile("holdfast-test-", ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().putAll(environment);
      return new Program(builder.start(), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives it something to read, and the end of it. */
  Program type(String text) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(text.getBytes(UTF_8));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives it something to read, and more to come. */
  Program press(String keys) {
    try {
      process.getOutputStream().write(keys.getBytes(UTF_8));
      process.getOutputStream().flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Program awaitOut(String text) {
    return awaitText(this::out, text);
  }

  Program awaitErr(String text) {
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

  Program signal(String name) {
    signal(name, process.pid());
    return this;
  }

  static void signal(String name, long pid) {
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
  int exitCode() {
    return exitCodeWithin(Limits.LONG);
  }

  int exitCodeWithin(Duration limit) {
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("it does not end; " + said());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  String out() {
    return read(out);
  }

  String err() {
    return read(err);
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

  private static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
