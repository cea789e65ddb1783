package dev.holdfast.cli.run;

import dev.holdfast.Lease;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.OsSignal;
import dev.holdfast.cli.process.ProcessContext;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The command that runs under the lock, below its guardian. It has our stdin, stdout and stderr.
 */
final class Child {
  /** The guardian's own time for {@link ProcessContext#KILL_LIMIT}, and for telling. */
  private static final Duration GUARDIAN_LIMIT = ProcessContext.KILL_LIMIT.plusSeconds(1);

  private static final String FENCING_TOKEN = "HOLDFAST_FENCING_TOKEN";

  /** A shell that exports them turns its own options, and so the launcher's, into the command's. */
  private static final Set<String> SHELL_OPTIONS = Set.of("SHELLOPTS", "BASHOPTS");

  private static final String LOCALE = "LC_ALL";
  private static final String LOCALE_BEFORE = "HOLDFAST_LC_ALL";

  private final Guardian guardian;
  private final GuardianTimes times;
  private volatile boolean signalled;

  private Child(Guardian guardian, GuardianTimes times) {
    this.guardian = guardian;
    this.times = times;
  }

  /** Makes all ready for the command, but does not start it yet. */
  static Child prepare(List<String> command, Lease lease, GuardianTimes times)
      throws CannotRunException, InterruptedException {
    requireExecutable(command.get(0));
    try {
      return new Child(Guardian.start(command, environment(lease), times), times);
    } catch (IOException e) {
      throw new CannotRunException(
          ExitCode.NOT_EXECUTABLE,
          command.get(0),
          "its guardian, which needs bash 4, mkfifo and a folder for temporary files, does not"
              + " start: "
              + e.getMessage());
    }
  }

  private static void requireExecutable(String program) throws CannotRunException {
    if (SearchPath.find(program).isEmpty()) {
      throw SearchPath.exists(program)
          ? new CannotRunException(ExitCode.NOT_EXECUTABLE, program, "Permission denied")
          : new CannotRunException(ExitCode.NOT_FOUND, program, "No such file or directory");
    }
  }

  private static Map<String, String> environment(Lease lease) {
    Map<String, String> environment = new HashMap<>(ProcessContext.current().environment());
    environment.keySet().removeAll(SHELL_OPTIONS);
    environment.put("HOLDFAST_NAME", lease.name());
    environment.put("HOLDFAST_TOKEN", lease.token());
    // The value there may be from another holdfast, around this one.
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
    return environment;
  }

  /** Starts the command, unless the lease is about to end by the guardian's clock. */
  void begin(Lease lease) {
    guardian.begin(lease, times.period());
  }

  /** Gives up what {@link #prepare} made, without the command. */
  void cancel() {
    guardian.leaveSurvivors();
  }

  /** Returns whether the command has been started. */
  boolean hasBegun() {
    return guardian.commandPid() != 0;
  }

  long pid() {
    return guardian.commandPid();
  }

  /** Completes with the exit code when the command has ended: 128 and N if signal N ended it. */
  CompletableFuture<Integer> ended() {
    return guardian.ended();
  }

  /** Completes when the guardian ends the command, because the lock was not renewed. */
  CompletableFuture<Void> expiring() {
    return guardian.expiring();
  }

  /** Completes when nothing guards the command any more. */
  CompletableFuture<Void> unguarded() {
    return guardian.gone();
  }

  /** Passes a signal on to the command and to all that it has started. */
  void send(OsSignal signal) {
    signalled = true;
    guardian.send(signal);
  }

  /**
   * Ends the command and all that it has started, because nothing of that may go on without the
   * lock: SIGTERM, and SIGKILL after the grace, at the latest before the lock ends.
   */
  void end() {
    guardian.end(times.grace());
  }

  /**
   * Ends the command in the same way after the loss of the lock, when no end of the lock limits the
   * grace.
   */
  void endAfterLoss() {
    guardian.endAfterLoss(times.grace());
  }

  /**
   * Ends the processes that got a signal with the command and outlive it, after the grace. Without
   * a signal they are left alone.
   *
   * @return false if a process is left that should have ended
   */
  boolean endSurvivors() throws InterruptedException {
    if (signalled) {
      guardian.endSurvivors(times.grace());
      return awaitEnd();
    }
    guardian.leaveSurvivors();
    return true;
  }

  /**
   * Waits for the end that has begun, and kills what is left. Returns false if something still is.
   */
  boolean awaitEnd() throws InterruptedException {
    // A guardian that was killed, or stopped, ends nothing.
    return (awaitGuardian(times.grace().plus(GUARDIAN_LIMIT)) && guardian.isOver())
        || guardian.kill(ProcessContext.KILL_LIMIT);
  }

  /** Waits for the guardian's end, because the end of this JVM would look to it like a crash. */
  boolean awaitGuardian(Duration limit) throws InterruptedException {
    try {
      guardian.gone().get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
