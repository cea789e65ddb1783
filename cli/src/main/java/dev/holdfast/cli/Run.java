package dev.holdfast.cli;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Gets a lock, runs a command, gives the lock back.
 *
 * @param request for the lock, without {@code keepAliveUpTo}
 * @param maxHold how long the command may run, if the lock can be renewed
 * @param grace from SIGTERM to SIGKILL when it may run no longer
 */
record Run(
    Backend backend, LockRequest request, Duration maxHold, Duration grace, List<String> command) {
  /** A wait that is over sooner needs no words. */
  private static final long SILENT_WAIT_MILLIS = 1_000;

  /** What a kill may take on a busy machine, so that it is over before the lock is. */
  private static final Duration KILLING = Duration.ofMillis(500);

  /** Before JDK 25 {@code error=2, No such file}, since then {@code error: 2 (No such file)}. */
  private static final Pattern NOT_FOUND = Pattern.compile("error[=:] ?2\\b");

  int exitCode() throws Exception {
    Signals signals = Signals.handled();
    try (LockManager locks = open(signals)) {
      boolean renewed = locks.capabilities().contains(LockCapability.KEEP_ALIVE);
      Optional<Lease> lease = acquire(locks, renewed ? renewed() : bounded(), signals);
      Logging.tellOutages();
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
    boolean waits = !request.maxWait().orElse(Duration.ZERO).isZero();
    Backend patient = backend.patient(request.ttl());
    Backend chosen = waits ? patient.lazy() : patient;
    try {
      return signals.await(
          CompletableFuture.supplyAsync(chosen::open, task -> daemon(task).start()));
    } catch (ExecutionException e) {
      throw unwrapped(e);
    }
  }

  /** The lock is kept until the command has had its grace. */
  private LockRequest renewed() {
    return request.keepAliveUpTo(maxHold.plus(grace).plus(Child.KILL_LIMIT));
  }

  /** The ttl is all that there is, the grace included. */
  private LockRequest bounded() {
    if (request.ttl().compareTo(grace.plus(KILLING)) <= 0) {
      throw new UsageException(
          "this lock cannot be renewed, and --ttl leaves nothing above --grace: give a longer --ttl,"
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
        Logging.tellOutages();
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
      child = Child.start(command, lease);
    } catch (IOException e) {
      lease.close();
      String why = String.valueOf(e.getMessage());
      Message.print(
          "cannot run '" + command.get(0) + "': " + why.replaceFirst("^.*error[=:] ?\\d+,? ", ""));
      return NOT_FOUND.matcher(why).find() ? ExitCode.NOT_FOUND : ExitCode.NOT_EXECUTABLE;
    } catch (Signals.Signalled e) {
      lease.close();
      throw e;
    }
    signals.passTo(child::send);
    Optional<LossReason> cut =
        renewed
            ? awaitEnd(child, lease, maxHold, LossReason.MAX_HOLD)
            : awaitEnd(child, lease, leftAboveGrace(lease), LossReason.EXPIRED);
    if (cut.isPresent()) {
      end(child, new LockLostException(lease.name(), cut.get()));
    } else {
      endRest(child);
    }
    boolean held = giveBack(lease, cut.isPresent());
    return cut.isEmpty() && held ? child.exitCode() : ExitCode.LOST;
  }

  /** So that whatever runs is killed while the lock still is ours. */
  private Duration leftAboveGrace(Lease lease) {
    Duration left = lease.remaining().minus(grace).minus(KILLING);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /**
   * Empty if the command has ended by itself, else why it must end.
   *
   * @param afterLimit why, if it is that its time is over
   */
  private static Optional<LossReason> awaitEnd(
      Child child, Lease lease, Duration limit, LossReason afterLimit) throws InterruptedException {
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    try {
      CompletableFuture.anyOf(child.ended(), lost).get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return child.isEnded() ? Optional.empty() : Optional.of(lost.join());
    } catch (TimeoutException e) {
      return Optional.of(afterLimit);
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private void end(Child child, LockLostException why) throws InterruptedException {
    Message.print(why.getMessage() + "; ending the command (process " + child.pid() + ")");
    if (!child.end(grace)) {
      Message.print("process " + child.pid() + ", or one that it started, cannot be killed");
    }
  }

  /** What has got a signal with the command, and outlives it, has the grace to end as well. */
  private void endRest(Child child) throws InterruptedException {
    if (child.awaitRest(grace)) {
      return;
    }
    String rest =
        child.left().stream().map(p -> Long.toString(p.pid())).collect(Collectors.joining(", "));
    Message.print(
        "the command has ended, but what it started has not (process " + rest + "); killing it");
    if (!child.kill()) {
      Message.print("process " + rest + ", or one that it started, cannot be killed");
    }
  }

  /**
   * Returns false if it turns out that the lock was lost before the command ended.
   *
   * @param cut whether that, or more, has been said already
   */
  private static boolean giveBack(Lease lease, boolean cut) {
    try {
      boolean held = lease.release();
      if (!held && !cut) {
        Message.print(
            "the lock '" + lease.name() + "' was lost before the command ended: see what it did");
      }
      return held;
    } catch (LockException e) {
      Message.print("the lock was not given back and expires by itself: " + e.getMessage());
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
                      + LockState.printable(status.owner())
                      + " holds it ("
                      + status.agreeing()
                      + " of "
                      + status.nodes()
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
