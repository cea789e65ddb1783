package dev.holdfast.cli;

import dev.holdfast.Lease;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The command that runs under the lock. It has our stdin, stdout and stderr. */
final class Child {
  /** How long the system may take to end a process that was killed. */
  static final Duration KILL_LIMIT = Duration.ofSeconds(5);

  private static final String FENCING_TOKEN = "HOLDFAST_FENCING_TOKEN";

  private static final String LOCALE = "LC_ALL";
  private static final String LOCALE_BEFORE = "HOLDFAST_LC_ALL";

  private final Process process;
  private final Set<ProcessHandle> signalled = ConcurrentHashMap.newKeySet();

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
    // The launcher sets one in which all names can be read.
    Optional.ofNullable(environment.remove(LOCALE_BEFORE))
        .ifPresent(
            before -> {
              environment.remove(LOCALE);
              if (!before.isEmpty()) {
                environment.put(LOCALE, before);
              }
            });
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

  /**
   * Passes a signal on to it and to all that it has started, except to those that have got it from
   * the terminal.
   */
  void send(OsSignal signal) {
    Set<ProcessHandle> all = everything();
    // Before it is sent: whoever sees the command end by it sees these too.
    signalled.addAll(all);
    deliver(
        signal,
        all.stream()
            .filter(p -> signal != OsSignal.INT || !Terminal.sendsInterruptsTo(p.pid()))
            .toList());
  }

  /**
   * Ends it: SIGTERM, and after the grace SIGKILL, for it and for whatever it has started, because
   * nothing of that may go on without the lock.
   *
   * @return false if something is left all the same
   */
  boolean end(Duration grace) throws InterruptedException {
    send(OsSignal.TERM);
    return ProcessTree.awaitEnd(signalled, grace) || kill();
  }

  /** What it had started when a signal was passed on, and what runs on although it has ended. */
  List<ProcessHandle> left() {
    return ProcessTree.left(signalled);
  }

  /** Waits until nothing {@link #left() is left}; returns false if something is after this time. */
  boolean awaitRest(Duration limit) throws InterruptedException {
    return ProcessTree.awaitEnd(signalled, limit);
  }

  /**
   * Kills it, whatever it has started, and what has got a signal.
   *
   * @return false if something is left all the same
   */
  boolean kill() throws InterruptedException {
    Set<ProcessHandle> all = everything();
    all.forEach(ProcessHandle::destroyForcibly);
    return ProcessTree.awaitEnd(all, KILL_LIMIT);
  }

  private Set<ProcessHandle> everything() {
    Set<ProcessHandle> roots = new LinkedHashSet<>();
    roots.add(process.toHandle());
    roots.addAll(signalled);
    return ProcessTree.of(roots);
  }

  private void deliver(OsSignal signal, List<ProcessHandle> processes) {
    if (signal == OsSignal.TERM) {
      processes.forEach(ProcessHandle::destroy);
      return;
    }
    if (processes.isEmpty()) {
      return;
    }
    String pids =
        processes.stream().map(p -> Long.toString(p.pid())).collect(Collectors.joining(" "));
    try {
      // The shell's own kill: a minimal container image has no other.
      new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + pids).start();
    } catch (IOException e) {
      Message.print("cannot pass SIG" + signal + " on to process " + pids + ": " + e);
    }
  }
}
