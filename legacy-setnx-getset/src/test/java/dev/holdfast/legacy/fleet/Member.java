package dev.holdfast.legacy.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A {@link FleetProcess} as its parent sees it. */
final class Member {
  private final Kind kind;
  private final Process process;
  private boolean ready;
  private boolean unwanted;
  private boolean inside;
  private long grants;
  private long wantsSince;
  private boolean wants;
  private long longestWait;

  private Member(Kind kind, Process process) {
    this.kind = kind;
    this.process = process;
    Thread listener = new Thread(this::listen, "listening to " + kind);
    listener.setDaemon(true);
    listener.start();
  }

  static Member start(Kind kind, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(FleetProcess.class.getName());
    command.add(kind.name());
    command.addAll(arguments);
    return new Member(
        kind, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  Kind kind() {
    return kind;
  }

  synchronized boolean isReady() {
    if (!process.isAlive() && !ready) {
      throw new IllegalStateException("a process of kind " + kind + " did not start");
    }
    return ready;
  }

  synchronized boolean isInside() {
    return inside;
  }

  boolean isGone() {
    return !process.isAlive();
  }

  /** Ended unexpectedly. */
  synchronized boolean hasCrashed() {
    return !process.isAlive() && !unwanted;
  }

  synchronized long grants() {
    return grants;
  }

  /** The one that is not over included. */
  synchronized Duration longestWait() {
    long now = wants && process.isAlive() ? System.nanoTime() - wantsSince : 0;
    return Duration.ofNanos(Math.max(longestWait, now));
  }

  /** Lets it end once it has released what it holds. */
  void stop() {
    end();
    send(FleetProcess.STOP);
  }

  /** Has it stay inside the next time that it is. */
  void dieInMidHold() {
    send(FleetProcess.DIE);
  }

  private void send(String order) {
    try {
      process.getOutputStream().write((order + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the process as {@code kill -9} does. */
  void kill() {
    end();
    process.destroyForcibly();
  }

  private synchronized void end() {
    unwanted = true;
  }

  private void listen() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        received(line);
      }
    } catch (IOException e) {
      // it was killed in the middle of a line
    }
  }

  private synchronized void received(String word) {
    switch (word) {
      case FleetProcess.READY -> ready = true;
      case FleetProcess.WANT -> {
        wants = true;
        wantsSince = System.nanoTime();
      }
      case FleetProcess.GOT -> {
        wants = false;
        grants++;
        longestWait = Math.max(longestWait, System.nanoTime() - wantsSince);
      }
      case FleetProcess.INSIDE -> inside = true;
      default -> throw new IllegalStateException("a process of kind " + kind + " said " + word);
    }
  }
}
