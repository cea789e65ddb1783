package dev.holdfast.cli.run;

import dev.holdfast.Lease;
import dev.holdfast.cli.process.Message;
import dev.holdfast.cli.process.OsSignal;
import dev.holdfast.cli.process.ProcessContext;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The process between this JVM and the command: {@code guardian.bash}. It leads the session that
 * the command runs in, and ends that session when this JVM is killed, stands still or says so.
 */
final class Guardian {
  /** The time that it may take to start on a busy machine. */
  private static final long START_SECONDS = 10;

  private static final String GONE = "gone";

  private static final List<String> SETSID = List.of("setsid");

  /** The command for systems without setsid(1), such as macOS. */
  private static final List<String> SETSID_BY_PERL =
      List.of("perl", "-e", "use POSIX (); POSIX::setsid(); exec { $ARGV[0] } @ARGV");

  private final Process process;
  private final RandomAccessFile control;
  private final RandomAccessFile report;

  /** Never waited for: a guardian that is stopped reads nothing, and its pipe is full one day. */
  private final ScheduledExecutorService sender =
      Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "holdfast-guardian-control"));

  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> expiring = new CompletableFuture<>();
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private volatile boolean over;
  private volatile long commandPid;
  private volatile long commandGroup;

  private Guardian(Process process, RandomAccessFile control, RandomAccessFile report) {
    this.process = process;
    this.control = control;
    this.report = report;
  }

  /**
   * Starts it, but not yet the command.
   *
   * @throws IOException if this system lacks what it needs
   */
  static Guardian start(List<String> command, Map<String, String> environment, GuardianTimes times)
      throws IOException, InterruptedException {
    GuardianFolder folder = GuardianFolder.make();
    try {
      List<String> all = new ArrayList<>(newSession());
      // Without -p, BASH_ENV and functions in the environment would be run by it, too.
      all.addAll(List.of("bash", "-p", folder.script().toString(), folder.path().toString()));
      all.addAll(times.arguments());
      all.addAll(command);
      ProcessBuilder builder = new ProcessBuilder(all);
      builder.environment().clear();
      builder.environment().putAll(environment);
      // Opened for both directions, because opening a pipe for one waits for the other end.
      RandomAccessFile control = new RandomAccessFile(folder.control().toFile(), "rw");
      RandomAccessFile report = new RandomAccessFile(folder.report().toFile(), "rw");
      Guardian guardian = new Guardian(ProcessContext.current().start(builder), control, report);
      guardian.listen();
      guardian.awaitReady();
      return guardian;
    } finally {
      folder.delete();
    }
  }

  private static List<String> newSession() {
    for (List<String> way : List.of(SETSID, SETSID_BY_PERL)) {
      if (SearchPath.find(way.get(0)).isPresent()) {
        return way;
      }
    }
    Message.print(
        "there is neither setsid nor perl: the command is ended with its process group only;"
            + " install util-linux to have all that it starts ended");
    return List.of();
  }

  private void awaitReady() throws IOException, InterruptedException {
    try {
      ready.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    } catch (TimeoutException e) {
      process.destroyForcibly();
      throw new IOException("bash did not start within " + START_SECONDS + " s", e);
    }
  }

  /** Has the command started, and from now on knows how long the lease is valid. */
  void begin(Lease lease, Duration period) {
    send("start " + validity(lease));
    sender.scheduleWithFixedDelay(
        () -> {
          if (lease.isHeld()) {
            write("valid " + validity(lease));
          }
        },
        period.toNanos(),
        period.toNanos(),
        TimeUnit.NANOSECONDS);
  }

  /**
   * Returns the time left and the time of the clock. Reads the clock first: if this process stands
   * still in between, the time left is less.
   */
  private static String validity(Lease lease) {
    String stamp = Uptime.now().stream().mapToObj(Long::toString).findFirst().orElse("-");
    return lease.remaining().toMillis() + " " + stamp;
  }

  void send(OsSignal signal) {
    send("signal " + signal);
  }

  /**
   * Ends the session: SIGTERM, then SIGKILL after the grace, at the latest before the lock ends.
   */
  void end(Duration grace) {
    send("end " + grace.toMillis());
  }

  /** Ends the session, after the loss of the lock: SIGTERM, then SIGKILL after the grace. */
  void endAfterLoss(Duration grace) {
    send("lost " + grace.toMillis());
  }

  /** Ends the processes that the ended command started: after the grace they get SIGKILL. */
  void endSurvivors(Duration grace) {
    send("rest " + grace.toMillis());
  }

  /** Leaves the processes that the ended command started. */
  void leaveSurvivors() {
    send("done");
  }

  /** Kills the session from here, if the guardian cannot. Returns false if something is left. */
  boolean kill(Duration limit) throws InterruptedException {
    process.destroyForcibly();
    if (commandGroup > 0) {
      try {
        // The shell's own kill: a minimal container image has no other.
        new ProcessBuilder("/bin/sh", "-c", "kill -s KILL -- -" + commandGroup)
            .redirectErrorStream(true)
            .start()
            .waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      } catch (IOException e) {
        Message.print("cannot kill the process group " + commandGroup + ": " + e.getMessage());
      }
    }
    return new Session(process.pid()).kill(limit);
  }

  /**
   * Returns true if the guardian found that the session had ended. If it was killed before that,
   * this is false.
   */
  boolean isOver() {
    return over;
  }

  /** Returns the command's process, or 0 while it has not started. */
  long commandPid() {
    return commandPid;
  }

  /** Completes with the exit code when the command has ended. */
  CompletableFuture<Integer> ended() {
    return ended;
  }

  /** Completes when the guardian ends the command, because the lock was not renewed. */
  CompletableFuture<Void> expiring() {
    return expiring;
  }

  /** Completes when the guardian has ended, after all of its reports. */
  CompletableFuture<Void> gone() {
    return gone;
  }

  private void send(String line) {
    sender.execute(() -> write(line));
  }

  private void write(String line) {
    try {
      control.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      Message.print("cannot write to the guardian: " + e.getMessage());
    }
  }

  private void listen() {
    daemon(this::read, "holdfast-guardian-report").start();
    // Also when it was killed: the last line of the report, after all others.
    process.onExit().thenRun(this::writeGone);
  }

  private void writeGone() {
    try {
      report.write((GONE + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      gone.complete(null);
    }
  }

  /** Reads the reports of the guardian. After any failure, nothing waits for it any more. */
  private void read() {
    try {
      for (String line = report.readLine(); line != null && !line.equals(GONE); ) {
        on(line.split(" ", 2)[0], line.substring(line.indexOf(' ') + 1));
        line = report.readLine();
      }
    } catch (IOException e) {
      Message.print("cannot read from the guardian: " + e.getMessage());
    } finally {
      ready.completeExceptionally(new IOException("bash ended before it began"));
      gone.complete(null);
    }
  }

  private void on(String event, String detail) {
    switch (event) {
      case "ready" -> ready.complete(null);
      case "unfit" ->
          ready.completeExceptionally(
              new IOException("bash " + detail + " is too old: install bash 4 or later"));
      case "started" -> {
        String[] numbers = detail.split(" ", 2);
        commandPid = Long.parseLong(numbers[0]);
        commandGroup = Long.parseLong(numbers[1]);
      }
      case "ended" -> ended.complete(Integer.parseInt(detail));
      case "expiring" -> expiring.complete(null);
      case "over" -> over = true;
      default -> throw new IllegalStateException("the guardian said '" + event + "'");
    }
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
