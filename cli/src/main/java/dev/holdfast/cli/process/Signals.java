package dev.holdfast.cli.process;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The signals that this process gets: they end its waits, or go to their receiver. */
public final class Signals {
  private final List<OsSignal> early = new ArrayList<>();
  private final CompletableFuture<OsSignal> first = new CompletableFuture<>();
  private @Nullable Consumer<OsSignal> receiver;

  /** The end of a wait by a signal. */
  public static final class Signalled extends Exception {
    private static final long serialVersionUID = 1L;

    private final OsSignal signal;

    Signalled(OsSignal signal) {
      super("SIG" + signal);
      this.signal = signal;
    }

    public OsSignal signal() {
      return signal;
    }
  }

  /** Handles all signals, so that from now on they no longer end the JVM. */
  public static Signals handled() {
    Signals signals = new Signals();
    for (OsSignal signal : OsSignal.values()) {
      ProcessContext.current().handle(signal, signals::received);
    }
    return signals;
  }

  /** Waits for a result, or for a signal. */
  public <T> T await(CompletableFuture<T> result)
      throws Signalled, InterruptedException, ExecutionException {
    CompletableFuture.anyOf(result, first).handle((any, failure) -> true).get();
    requireNone();
    return result.get();
  }

  /**
   * Waits for a signal at most this long. Creates no future, which the future of the signal would
   * keep forever.
   */
  public void pause(long millis) throws Signalled, InterruptedException {
    try {
      throw new Signalled(first.get(millis, TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      // there was none
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Waits at most this long for a result, or for a signal. Returns whether the result is there. */
  public boolean await(CompletableFuture<?> result, long millis)
      throws Signalled, InterruptedException {
    try {
      CompletableFuture.anyOf(result, first)
          .handle((any, failure) -> true)
          .get(millis, TimeUnit.MILLISECONDS);
      requireNone();
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * Ends the work of a command that has got a signal.
   *
   * @throws Signalled if there was a signal
   */
  public void requireNone() throws Signalled {
    if (first.isDone()) {
      throw new Signalled(first.join());
    }
  }

  /** Passes on all signals, also those that came before. */
  public synchronized void passTo(Consumer<OsSignal> newReceiver) {
    receiver = newReceiver;
    early.forEach(newReceiver);
    early.clear();
  }

  /** Ends this JVM at once when the next signal arrives, and forgets earlier signals. */
  public synchronized void exitAtNext() {
    early.clear();
    receiver = signal -> System.exit(ExitCode.ofSignal(signal.number()));
  }

  private synchronized void received(OsSignal signal) {
    first.complete(signal);
    if (receiver == null) {
      early.add(signal);
    } else {
      receiver.accept(signal);
    }
  }
}
