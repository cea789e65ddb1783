package dev.holdfast.cli.demo;

import dev.holdfast.cli.process.Jvm;
import dev.holdfast.cli.process.ProcessContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A worker process, as the demo sees it. */
final class DemoWorker {
  private final String label;
  private final Process process;
  private final Path errors;
  private final DemoTally tally = new DemoTally();
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Boolean> done = new CompletableFuture<>();

  private DemoWorker(String label, Process process, Path errors) {
    this.label = label;
    this.process = process;
    this.errors = errors;
  }

  /**
   * Starts one.
   *
   * @param url the URL of its locks, or empty to work without
   * @param classPath where its backend may be, in addition to our own
   */
  static DemoWorker start(
      String label, Path folder, Optional<String> url, Optional<String> classPath)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("demo-worker", "--folder", folder.toString(), "--label", label));
    url.ifPresent(u -> arguments.addAll(List.of("--url", u)));
    classPath.ifPresent(path -> arguments.addAll(List.of("--class-path", path)));
    Path errors = folder.resolve(label.replace(' ', '-') + ".err");
    Process process =
        new ProcessBuilder(Jvm.again(arguments)).redirectError(errors.toFile()).start();
    DemoWorker worker = new DemoWorker(label, process, errors);
    Thread reader = new Thread(worker::read, "holdfast-demo-" + label.replace(' ', '-'));
    reader.setDaemon(true);
    reader.start();
    return worker;
  }

  String label() {
    return label;
  }

  DemoTally tally() {
    return tally;
  }

  /** Completes when it can begin, and exceptionally if it never will. */
  CompletableFuture<Void> ready() {
    return ready;
  }

  /** Completes when it has ended, with whether that was in order. */
  CompletableFuture<Boolean> done() {
    return done;
  }

  void begin() throws IOException {
    OutputStream in = process.getOutputStream();
    in.write("begin\n".getBytes(StandardCharsets.US_ASCII));
    in.flush();
  }

  /** Asks it to end when it has finished what it is at. */
  void end() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has gone already.
    }
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor(ProcessContext.KILL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns its stderr, which should be empty. */
  String errors() {
    try {
      return Files.readString(errors).strip();
    } catch (IOException e) {
      return "";
    }
  }

  private void read() {
    boolean inOrder = false;
    try (BufferedReader events = process.inputReader(StandardCharsets.US_ASCII)) {
      for (String event = events.readLine(); event != null; event = events.readLine()) {
        if (event.equals(DemoTally.READY)) {
          ready.complete(null);
        }
        inOrder = event.equals(DemoTally.DONE);
        tally.add(event);
      }
    } catch (IOException e) {
      // Its end, though not in order.
    }
    ready.completeExceptionally(new IOException(label + " did not start: " + errors()));
    done.complete(inOrder);
  }
}
