package dev.holdfast.cli.compare;

import dev.holdfast.cli.process.Jvm;
import dev.holdfast.cli.process.ProcessContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process that holds a lock, and what can happen to it. */
final class CompareHolder implements AutoCloseable {
  /** The limit for each answer, so that a process that stands still does not block the run. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Process process;
  private final BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();

  /** Ends it when we end, however that is: one that is stopped would not see its stdin end. */
  private final Process watchdog;

  private CompareHolder(Process process) throws IOException {
    this.process = process;
    Thread listener = new Thread(this::listen, "holdfast-compare-holder");
    listener.setDaemon(true);
    listener.start();
    watchdog = shell("read line; kill -KILL " + process.pid());
  }

  /** Starts one, which asks for the lock at once. */
  static CompareHolder start(CompareLock lock, List<String> nodes, String name) throws IOException {
    List<String> arguments =
        List.of("compare-holder", "--lock", lock.name(), "--nodes", String.join(",", nodes), name);
    return new CompareHolder(
        new ProcessBuilder(Jvm.again(arguments))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  /** Returns when it has got the lock, and since when others may be kept out. */
  Instant awaitHeld() throws InterruptedException {
    return Instant.ofEpochMilli(Long.parseLong(answer()));
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor(ProcessContext.KILL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  void freeze() throws IOException, InterruptedException {
    signal("STOP");
  }

  void thaw() throws IOException, InterruptedException {
    signal("CONT");
  }

  /** Returns whether the process believes now that it holds the lock. */
  boolean isHeld() throws IOException, InterruptedException {
    return ask(CompareHolderCommand.HELD).equals(CompareHolderCommand.YES);
  }

  /** Lets it release the lock, if it still holds it. */
  void release() throws IOException, InterruptedException {
    ask(CompareHolderCommand.RELEASE);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    watchdog.destroyForcibly();
  }

  private void signal(String name) throws IOException, InterruptedException {
    int code = shell("kill -" + name + " " + process.pid()).waitFor();
    if (code != 0) {
      throw new IOException("cannot send SIG" + name + " to process " + process.pid());
    }
  }

  /** Starts a shell. It has a kill of its own, which a minimal container image lacks. */
  private static Process shell(String script) throws IOException {
    return new ProcessBuilder("/bin/sh", "-c", script).start();
  }

  private String ask(String question) throws IOException, InterruptedException {
    OutputStream in = process.getOutputStream();
    in.write((question + "\n").getBytes(StandardCharsets.US_ASCII));
    in.flush();
    return answer();
  }

  private String answer() throws InterruptedException {
    Optional<String> answer = answers.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (answer == null) {
      throw Comparison.notMeasured(
          "the process that holds the lock says nothing for " + PATIENCE.toSeconds() + " s");
    }
    return answer.orElseThrow(
        () -> Comparison.notMeasured("the process that holds the lock has ended"));
  }

  private void listen() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        answers.add(Optional.of(line));
      }
    } catch (IOException e) {
      // It has ended anyway.
    }
    answers.add(Optional.empty());
  }
}
