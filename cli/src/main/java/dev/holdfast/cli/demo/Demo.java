package dev.holdfast.cli.demo;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Signals;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a demo: servers, workers, faults, and an observer. */
final class Demo {
  private static final long START_LIMIT_MILLIS = 60_000;

  /** The time to end for a worker that works at the end, and whose server is frozen meanwhile. */
  private static final long END_LIMIT_MILLIS = 10_000;

  private final DemoPlan plan;
  private final List<DemoWorker> workers = new ArrayList<>();
  private @Nullable TestNodes nodes;
  private @Nullable LockManager observer;

  Demo(DemoPlan plan) {
    this.plan = plan;
  }

  int exitCode() throws Exception {
    Signals signals = Signals.handled();
    Path folder = Files.createTempDirectory("holdfast-demo-");
    try {
      DemoResult result = perform(folder, signals);
      System.out.println(plan.json() ? result.json() : result.text());
      signals.requireNone();
      return result.exitCode();
    } catch (Signals.Signalled e) {
      return ExitCode.ofSignal(e.signal().number());
    } finally {
      cleanUp(folder);
    }
  }

  private DemoResult perform(Path folder, Signals signals) throws Exception {
    DemoNumbers numbers = new DemoNumbers(folder);
    numbers.create();
    try (DemoScreen screen = DemoScreen.of(plan)) {
      screen.say(
          "Starting "
              + (plan.locked() ? DemoPlan.NODES + " redis-servers and " : "")
              + plan.workers()
              + " workers, each a process of its own");
      Optional<String> url = startNodes();
      if (screen.showsLocks() && url.isPresent()) {
        observer = new Backend(url.get()).open();
      }
      startWorkers(folder, url, signals);
      // From here on a signal only ends the demo sooner. A second one ends it at once.
      DemoFaults faults = plan.faults() && nodes != null ? DemoFaults.begin(nodes) : null;
      double seconds = watch(screen, signals);
      if (faults != null) {
        faults.end();
      }
      List<String> broken = endWorkers();
      DemoView end = DemoView.of(plan, seconds, workers, nodes, observer);
      screen.end(end);
      return new DemoResult(
          end,
          numbers.sum(),
          faults == null ? 0 : faults.freezes(),
          faults == null ? 0 : faults.kills(),
          broken);
    }
  }

  private Optional<String> startNodes() {
    if (!plan.locked()) {
      return Optional.empty();
    }
    TestNodes started = TestNodes.start(DemoPlan.NODES);
    nodes = started;
    return Optional.of(plan.url(started));
  }

  private void startWorkers(Path folder, Optional<String> url, Signals signals) throws Exception {
    for (int i = 1; i <= plan.workers(); i++) {
      workers.add(DemoWorker.start("worker " + i, folder, url, plan.classPath()));
    }
    CompletableFuture<Void> ready =
        CompletableFuture.allOf(
            workers.stream().map(DemoWorker::ready).toArray(CompletableFuture<?>[]::new));
    if (!signals.await(ready, START_LIMIT_MILLIS)) {
      throw new IOException("the workers did not start within a minute");
    }
    ready.get();
    for (DemoWorker worker : workers) {
      worker.begin();
    }
  }

  /** Shows how it goes until the time is over, or a signal comes. Returns the seconds. */
  private double watch(DemoScreen screen, Signals signals) throws InterruptedException {
    long begun = System.nanoTime();
    long limit = TimeUnit.SECONDS.toNanos(plan.seconds());
    long next = begun;
    try {
      while (System.nanoTime() - begun < limit) {
        next += TimeUnit.MILLISECONDS.toNanos(screen.everyMillis());
        long pause = Math.min(next, begun + limit) - System.nanoTime();
        signals.pause(Math.max(1, pause / 1_000_000));
        screen.show(DemoView.of(plan, secondsSince(begun), workers, nodes, observer));
      }
    } catch (Signals.Signalled e) {
      signals.exitAtNext();
    }
    return secondsSince(begun);
  }

  private static double secondsSince(long begun) {
    return (System.nanoTime() - begun) / 1e9;
  }

  private List<String> endWorkers() throws Exception {
    workers.forEach(DemoWorker::end);
    List<String> broken = new ArrayList<>();
    for (DemoWorker worker : workers) {
      boolean inOrder =
          worker.done().completeOnTimeout(false, END_LIMIT_MILLIS, TimeUnit.MILLISECONDS).get();
      if (!inOrder) {
        broken.add(worker.label() + " did not end in order: " + worker.errors());
      }
    }
    return broken;
  }

  private void cleanUp(Path folder) throws IOException, InterruptedException {
    for (DemoWorker worker : workers) {
      worker.kill();
    }
    if (observer != null) {
      observer.close();
    }
    if (nodes != null) {
      nodes.close();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
