package dev.holdfast.cli;

import dev.holdfast.Lease;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** The command that runs under the lock. It has our stdin, stdout and stderr. */
final class Child {
  /** How long the system may take to end a process that was killed. */
  static final Duration KILL_LIMIT = Duration.ofSeconds(5);

  private static final String FENCING_TOKEN = "HOLDFAST_FENCING_TOKEN";

  private final Process process;

  private Child(Process process) {
    this.process = process;
  }

  /**
   * Starts it.
   *
   * @throws IOException if it is not there, or cannot be executed
   */
  static Child start(List<String> command, Lease lease) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    Map<String, String> environment = builder.environment();
    environment.put("HOLDFAST_NAME", lease.name());
    environment.put("HOLDFAST_TOKEN", lease.token());
    // What stands there may be from another holdfast, around this one.
    environment.remove(FENCING_TOKEN);
    lease.fencingToken().ifPresent(token -> environment.put(FENCING_TOKEN, Long.toString(token)));
    return new Child(builder.start());
  }

  long pid() {
    return process.pid();
  }

  /** Completes when it has ended. */
  CompletableFuture<?> ended() {
    return process.onExit();
  }

  boolean isEnded() {
    return !process.isAlive();
  }

  /** Its exit code; 128 and the number if a signal ended it. */
  int exitCode() {
    return process.exitValue();
  }

  /** Passes a signal on, unless it has got it already. */
  void send(OsSignal signal) {
    if (process.isAlive() && !(signal == OsSignal.INT && Terminal.sendsInterruptsToOurGroup())) {
      if (signal == OsSignal.TERM) {
        process.destroy();
      } else {
        kill(signal);
      }
    }
  }

  /**
   * Ends it: SIGTERM, and after the grace SIGKILL for it and for whatever it has started that is
   * still there, because nothing of that may go on without the lock.
   *
   * @return false if something is left all the same
   */
  boolean end(Duration grace) throws InterruptedException {
    List<ProcessHandle> family =
        Stream.concat(Stream.of(process.toHandle()), descendants()).toList();
    process.destroy();
    if (awaitEnd(family, grace)) {
      return true;
    }
    List<ProcessHandle> left = Stream.concat(family.stream(), descendants()).distinct().toList();
    left.forEach(ProcessHandle::destroyForcibly);
    return awaitEnd(left, KILL_LIMIT);
  }

  private Stream<ProcessHandle> descendants() {
    return process.toHandle().descendants();
  }

  private static boolean awaitEnd(List<ProcessHandle> processes, Duration limit)
      throws InterruptedException {
    try {
      CompletableFuture.allOf(
              processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
          .get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private void kill(OsSignal signal) {
    try {
      // The shell's own kill: a minimal container image has no other.
      new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid()).start();
    } catch (IOException e) {
      Message.print("cannot pass SIG" + signal + " on to process " + process.pid() + ": " + e);
    }
  }
}
