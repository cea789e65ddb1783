package dev.holdfast.cli.run;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Message;
import dev.holdfast.cli.process.ProcessContext;
import dev.holdfast.cli.process.Signals;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Acquires a lock, runs a command, releases the lock.
 *
 * @param request for the lock, without {@code keepAliveUpTo}
 * @param maxHold how long the command may run, if the lock can be renewed
 * @param grace from SIGTERM to SIGKILL when it may run no longer
 */
record Run(
    Backend backend, LockRequest request, Duration maxHold, Duration grace, List<String> command) {
  /** A wait that is over sooner needs no words. */
  private static final long SILENT_WAIT_MILLIS = 1_000;

  /** The guardian needs less, unless it is stopped. */
  private static final Duration GUARDIAN_LIMIT = Duration.ofSeconds(1);

  /** The reason for which the command had to end before its time. */
  private enum Cut {
    LOST,
    MAX_HOLD,
    EXPIRING,
    UNGUARDED
  }

  int exitCode() throws Exception {
    Signals signals = Signals.handled();
    ProcessContext.current().refuseStops();
    try (LockManager locks = open(signals)) {
      boolean renewed = locks.capabilities().contains(LockCapability.KEEP_ALIVE);
      Optional<Lease> lease = acquire(locks, renewed ? renewed() : bounded(), signals);
      Logging.reportOutages();
      if (lease.isEmpty()) {
        Message.print("did not get the lock '" + request.name() + "' in time" + holder(locks));
        return ExitCode.NOT_GOT;
      }
      return hold(lease.get(), renewed, signals);
    } catch (Signals.Signalled e) {
      return ExitCode.ofSignal(e.signal().number());
    }
  }

  private LockManager open(Signals signals) throws Exception {
    boolean waits = !request.waitAtMost().orElse(Duration.ZERO).isZero();
    Backend chosen = waits ? backend.lazy() : backend;
    try {
      return signals.await(
          CompletableFuture.supplyAsync(chosen::open, task -> daemon(task).start()));
    } catch (ExecutionException e) {
      throw unwrapped(e);
    }
  }

  /** Returns the request for a lock that is kept until the grace of the command is over. */
  private LockRequest renewed() {
    return request.keepAliveUpTo(maxHold.plus(grace).plus(ProcessContext.KILL_LIMIT));
  }

  /** Returns the request for a lock that is not renewed, whose ttl includes the grace. */
  private LockRequest bounded() {
    if (request.ttl().compareTo(grace.plus(GuardianTimes.MARGIN)) <= 0) {
      throw new UsageException(
          "this lock cannot be renewed, and --ttl leaves nothing above --grace: give a longer"
              + " --ttl,"
              + " or a shorter --grace");
    }
    return request;
  }

  private Optional<Lease> acquire(LockManager locks, LockRequest wanted, Signals signals)
      throws Exception {
    CompletableFuture<Optional<Lease>> asked = locks.tryAcquireAsync(wanted);
    try {
      if (!signals.await(asked, SILENT_WAIT_MILLIS)) {
        String holder = holder(locks);
        Logging.reportOutages();
        Message.print("waiting for the lock '" + request.name() + "'" + holder);
      }
      return signals.await(asked);
    } catch (ExecutionException e) {
      throw unwrapped(e);
    } catch (Signals.Signalled e) {
      if (!asked.cancel(false) && !asked.isCompletedExceptionally()) {
        asked.join().ifPresent(Lease::close);
      }
      throw e;
    }
  }

  private int hold(Lease lease, boolean renewed, Signals signals)
      throws Signals.Signalled, InterruptedException {
    Child child;
    try {
      signals.requireNone();
      if (!renewed) {
        Message.print(
            "this lock cannot be renewed: the command has "
                + LockState.text(leftAboveGrace(lease))
                + ", then the grace of "
                + LockState.text(grace)
                + "; --ttl (default: "
                + RunCommand.DEFAULT_TTL
                + ") gives more");
      }
      child = Child.prepare(command, lease, times(renewed));
    } catch (CannotRunException e) {
      lease.close();
      Message.print(String.valueOf(e.getMessage()));
      return e.exitCode();
    } catch (Signals.Signalled e) {
      lease.close();
      throw e;
    }
    if (!begin(child, lease, signals)) {
      return ExitCode.LOST;
    }
    Optional<Cut> cut = awaitEnd(child, lease, renewed);
    if (cut.isPresent()) {
      end(child, lease, cut.get(), renewed);
    } else if (!child.endSurvivors()) {
      Message.print("the processes that process " + child.pid() + " started cannot be killed");
    }
    boolean held = release(lease, cut.isPresent());
    child.awaitGuardian(GUARDIAN_LIMIT);
    return cut.isEmpty() && held ? child.ended().join() : ExitCode.LOST;
  }

  private GuardianTimes times(boolean renewed) {
    return renewed
        ? GuardianTimes.renewed(request.ttl(), grace)
        : GuardianTimes.bounded(request.ttl(), grace);
  }

  /**
   * Starts the command if the lease is held. Nothing else is done between this check and the start.
   */
  private static boolean begin(Child child, Lease lease, Signals signals)
      throws Signals.Signalled, InterruptedException {
    try {
      signals.requireNone();
      lease.requireHeld();
    } catch (LockLostException | Signals.Signalled e) {
      child.cancel();
      release(lease, true);
      child.awaitGuardian(GUARDIAN_LIMIT);
      if (e instanceof Signals.Signalled signalled) {
        throw signalled;
      }
      Message.print(e.getMessage() + "; the command was not started");
      return false;
    }
    child.begin(lease);
    signals.passTo(child::send);
    return true;
  }

  private Duration leftAboveGrace(Lease lease) {
    Duration left = lease.remaining().minus(grace).minus(GuardianTimes.MARGIN);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /**
   * Waits until the command ends or must end. Returns empty if it has ended by itself, or why it
   * must end.
   */
  private Optional<Cut> awaitEnd(Child child, Lease lease, boolean renewed)
      throws InterruptedException {
    CompletableFuture<?> end =
        CompletableFuture.anyOf(child.ended(), child.expiring(), child.unguarded(), lease.onLoss());
    try {
      if (renewed) {
        end.get(maxHold.toMillis(), TimeUnit.MILLISECONDS);
      } else {
        end.get();
      }
    } catch (TimeoutException e) {
      return Optional.of(Cut.MAX_HOLD);
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
    if (child.expiring().isDone()) {
      return Optional.of(Cut.EXPIRING);
    }
    if (child.ended().isDone()) {
      return Optional.empty();
    }
    return Optional.of(child.unguarded().isDone() ? Cut.UNGUARDED : Cut.LOST);
  }

  private void end(Child child, Lease lease, Cut cut, boolean renewed) throws InterruptedException {
    if (!child.hasBegun() && cut == Cut.UNGUARDED) {
      Message.print(
          "the lock '" + lease.name() + "' was about to end; the command was not started");
      return;
    }
    String why =
        switch (cut) {
          case LOST -> lost(lease.onLoss().join(), renewed);
          case MAX_HOLD -> lost(LossReason.MAX_HOLD, renewed);
          case EXPIRING -> lost(LossReason.EXPIRED, renewed);
          case UNGUARDED -> "the guardian of the command was killed";
        };
    switch (cut) {
      case LOST -> child.endAfterLoss();
      case MAX_HOLD -> child.end();
      case EXPIRING -> {}
      case UNGUARDED -> child.awaitEnd();
    }
    // Only now: this waits forever where stderr is a full pipe that nothing reads.
    Message.print(why + "; ending the command (process " + child.pid() + ")");
    if (!child.awaitEnd()) {
      Message.print("process " + child.pid() + ", or one that it started, cannot be killed");
    }
  }

  /** Returns the same words for an end that the guardian or the lease reports first. */
  private String lost(LossReason reason, boolean renewed) {
    if (renewed && reason == LossReason.EXPIRED) {
      return "the lock '" + request.name() + "' was not renewed in time";
    }
    return String.valueOf(new LockLostException(request.name(), reason).getMessage());
  }

  /**
   * Returns false if it turns out that the lock was lost before the command ended.
   *
   * @param cut whether that, or more, has been said already
   */
  private static boolean release(Lease lease, boolean cut) {
    try {
      boolean held = lease.release();
      if (!held && !cut) {
        Message.print(
            "the lock '" + lease.name() + "' was lost before the command ended: check its effects");
      }
      return held;
    } catch (LockException e) {
      Message.print("the lock was not released and expires by itself: " + e.getMessage());
      return true;
    }
  }

  private String holder(LockManager locks) {
    try {
      return locks
          .inspect(request.name())
          .map(
              status ->
                  ": "
                      + LockState.printable(status.ownerLabel())
                      + " holds it ("
                      + status.votes().granted()
                      + " of "
                      + status.votes().nodes()
                      + " nodes agree)")
          .orElse("");
    } catch (LockConfigurationException notForThisBackend) {
      return "";
    } catch (LockException e) {
      // It says so itself.
      Logging.forgetOutages();
      return ": " + e.getMessage();
    }
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "holdfast-open");
    thread.setDaemon(true);
    return thread;
  }

  private static Exception unwrapped(ExecutionException e) {
    return e.getCause() instanceof Exception cause ? cause : e;
  }
}
