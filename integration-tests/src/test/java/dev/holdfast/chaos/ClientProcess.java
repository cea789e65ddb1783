package dev.holdfast.chaos;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A {@link Client} as its parent sees it. */
final class ClientProcess {
  private static final long PATIENCE_SECONDS = 120;

  private final String name;
  private final Path journal;
  private final Path clock;
  private final Path ready;
  private final Process process;
  private Duration clockError = Duration.ZERO;

  private ClientProcess(String name, Path journal, Path clock, Path ready, Process process) {
    this.name = name;
    this.journal = journal;
    this.clock = clock;
    this.ready = ready;
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param folder of the journal, and of what it prints
   */
  static ClientProcess start(
      String name, Path folder, Path journal, String url, long seed, Optional<ClockShim> shim) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Client.class.getName()));
    Path ready = folder.resolve(name + ".ready");
    command.addAll(List.of(name, url, journal.toString(), Long.toString(seed), ready.toString()));
    Path clock = folder.resolve(name + ".clock");
    ClockShim.set(clock, Duration.ZERO);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(name + ".log").toFile());
    shim.ifPresent(given -> builder.environment().putAll(given.environment(clock)));
    try {
      return new ClientProcess(name, journal, clock, ready, builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when it is at work. */
  void awaitReady() {
    Eventually.within(Duration.ofSeconds(PATIENCE_SECONDS))
        .alias("a client starts")
        .until(
            () -> {
              requireAlive();
              return Files.exists(ready);
            });
  }

  /** SIGSTOP. */
  void pause() {
    signal("STOP");
  }

  /** SIGCONT. */
  void goOn() {
    signal("CONT");
  }

  /** SIGKILL. */
  void kill() {
    process.destroyForcibly();
    awaitEnd();
  }

  /** Has it let go of all that it holds. */
  void end() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns how it ended. */
  int awaitEnd() {
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException("a client does not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Fails if it has ended without an order. */
  void requireAlive() {
    if (!process.isAlive()) {
      throw new IllegalStateException("a client ended with " + process.exitValue());
    }
  }

  /** Sets the wall clock, and notes the leap. */
  void setClock(Duration error) {
    ClockShim.set(clock, error);
    long ahead = error.minus(clockError).toNanos();
    clockError = error;
    try (Journal notes = Journal.at(journal)) {
      notes.append(new Entry.ClockSet(name, System.nanoTime(), ahead));
    }
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid())
          .start()
          .waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
