package dev.holdfast.cli.demo;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.OsSignal;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One worker process of the demo: begins at the first line of its stdin and ends with it, and tells
 * on stdout what happens, an event a line.
 */
@Command(name = "demo-worker", hidden = true)
@SuppressWarnings("NullAway.Init")
public final class DemoWorkerCommand implements Callable<Integer> {
  /** After so long it looks whether the demo is over. */
  private static final Duration WAIT = Duration.ofMillis(500);

  @Option(names = "--folder", required = true)
  private Path folder;

  @Option(names = "--label", required = true)
  private String label;

  @Option(names = "--url")
  private @Nullable String url;

  private final PrintStream events =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.US_ASCII);

  private volatile boolean over;

  @Override
  public Integer call() throws Exception {
    Logging.silence();
    // Ctrl-C goes to the whole process group. The demo ends its workers itself.
    OsSignal.INT.handle(signal -> {});
    OsSignal.HUP.handle(signal -> {});
    if (url == null) {
      work(null);
    } else {
      try (LockManager locks = new Backend(url).open()) {
        warmUp(locks);
        work(locks);
      }
    }
    events.println(DemoTally.DONE);
    return ExitCode.OK;
  }

  private void work(@Nullable LockManager locks) throws IOException, InterruptedException {
    DemoNumbers numbers = new DemoNumbers(folder);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    events.println(DemoTally.READY);
    over = in.readLine() == null;
    watch(in);
    while (!over) {
      int number = ThreadLocalRandom.current().nextInt(DemoNumbers.COUNT);
      long asked = System.nanoTime();
      if (locks == null) {
        granted(asked);
        report(numbers.increment(number, () -> true));
      } else {
        Optional<Lease> granted = acquire(locks, DemoNumbers.name(number));
        if (granted.isPresent()) {
          try (Lease lease = granted.get()) {
            granted(asked);
            report(numbers.increment(number, lease::isHeld));
          }
        }
      }
    }
  }

  /** Loads what a first lock needs, which is no part of the demo and takes long if all are busy. */
  private void warmUp(LockManager locks) throws InterruptedException {
    try {
      locks.tryAcquire(request(label)).ifPresent(Lease::close);
    } catch (LockOutageException e) {
      // The demo says so if it lasts.
    }
  }

  private LockRequest request(String name) {
    return LockRequest.of(name, DemoPlan.TTL).waitAtMost(WAIT).ownerLabel(label);
  }

  private void watch(BufferedReader in) {
    Thread watcher =
        new Thread(
            () -> {
              try {
                in.transferTo(Writer.nullWriter());
              } catch (IOException e) {
                // As good an end as any.
              }
              over = true;
            },
            "holdfast-demo-over");
    watcher.setDaemon(true);
    watcher.start();
  }

  /**
   * Acquires a lock. Waits for the end of an outage, because nothing is done without the lock.
   * Returns empty when the demo is over.
   */
  private Optional<Lease> acquire(LockManager locks, String name) throws InterruptedException {
    while (!over) {
      try {
        Optional<Lease> lease = locks.tryAcquire(request(name));
        if (lease.isPresent()) {
          return lease;
        }
      } catch (LockOutageException e) {
        events.println(DemoTally.OUTAGE);
      }
    }
    return Optional.empty();
  }

  private void granted(long asked) {
    events.println(DemoTally.GRANTED + (System.nanoTime() - asked) / 1_000);
  }

  private void report(DemoNumbers.Change change) {
    events.println(change.written() ? DemoTally.WRITTEN : DemoTally.LOST);
    if (change.overlapped()) {
      events.println(DemoTally.OVERLAPPED);
    }
  }
}
