package dev.holdfast.redlock.spi;

import dev.holdfast.redlock.spi.ConnectionState.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a node, from connecting to its end, and the commands on it. {@link
 * PipelinedNodes} make one each time they connect. A driver reports by the methods {@code on…}, on
 * any thread: {@link #onBegun} as soon as there is something to close, {@link #onConnected} or
 * {@link #onEnded}, the answers, and in any case {@link #onEnded}.
 *
 * <p>Commands are written in the order in which they were submitted. When the connection ends, all
 * unanswered commands fail in this order, and each is answered once, whatever the client does with
 * it later. At most {@link #MAX_WRITTEN} commands are written and unanswered, because at the end
 * clients take their time for each, on a thread that all nodes share.
 *
 * <p>The life goes forward only, phase by phase. Safe for use by many threads.
 *
 * @param <E> an encoded command
 */
public final class CommandConnection<E> {
  /** Maximum number of commands that are written before the first is answered. */
  private static final int MAX_WRITTEN = 1_000;

  /** Maximum number of commands that fail in one turn of the executor, which nodes share. */
  private static final int FAILURES_A_TURN = 250;

  private final int node;
  private final Runnable disconnected;
  private final CompletableFuture<Void> connected = new CompletableFuture<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private final Queue<EncodedRound<E>> unsent = new ConcurrentLinkedQueue<>();
  private final Queue<EncodedRound<E>> unanswered = new ConcurrentLinkedQueue<>();

  /** The number of commands that were written and whose receivers do not have the answer yet. */
  private final AtomicInteger written = new AtomicInteger();

  private final AtomicBoolean flushing = new AtomicBoolean();
  private final Runnable writing = this::write;
  private final AtomicReference<ConnectionState<E>> state =
      new AtomicReference<>(ConnectionState.begun());

  /** Begins a life. See {@link RedisConnections#connect}. */
  CommandConnection(int node, Runnable disconnected) {
    this.node = node;
    this.disconnected = disconnected;
  }

  /**
   * Tells whether connecting goes on.
   *
   * @return false if it has succeeded, failed or was dropped
   */
  public boolean isConnecting() {
    return state().phase() == Phase.CONNECTING;
  }

  /**
   * Tells whether commands may be written.
   *
   * @return false before the connection is made, and once it was dropped
   */
  public boolean isOpen() {
    return state().phase() == Phase.OPEN;
  }

  /**
   * Receives what writes and closes the connection, before {@link #onConnected}.
   *
   * @param writer closed at once if the connection was dropped meanwhile
   */
  public void onBegun(CommandWriter<E> writer) {
    ConnectionState<E> before =
        state.getAndUpdate(now -> now.isBefore(Phase.OPEN) ? now.with(writer) : now);
    if (before.phase() != Phase.CONNECTING) {
      close(writer);
    }
  }

  /**
   * Follows the connecting, which the client reports by a future.
   *
   * @param connecting if it fails, the connection has ended
   */
  public void onConnecting(CompletionStage<?> connecting) {
    connecting.whenComplete(
        (made, failure) -> {
          if (failure != null) {
            onEnded(failure);
          }
        });
  }

  /** Notes that the node has answered, so that commands may be written. */
  public void onConnected() {
    if (advance(Phase.OPEN).phase() == Phase.CONNECTING) {
      connected.complete(null);
    }
  }

  /**
   * Notes that connecting has failed, or the connection has ended. Unanswered commands fail.
   *
   * @param cause why
   */
  public void onEnded(Throwable cause) {
    ConnectionState<E> before = advance(Phase.ENDED);
    if (!before.isBefore(Phase.ENDED)) {
      return;
    }
    if (before.wasOpen()) {
      connected.complete(null);
    } else {
      connected.completeExceptionally(cause);
    }
    CommandWriter<E> writer = before.writer();
    if (writer != null && before.phase() != Phase.STOPPED) {
      close(writer);
    }
    if (writer == null || !before.wasOpen()) { // it has no commands
      conclude();
      return;
    }
    InTurn.run(writer, () -> failInTurns(writer, cause));
  }

  /** Notes that the connection has ended, for a reason that the driver does not know. */
  public void onEnded() {
    if (state().isBefore(Phase.ENDED)) { // else each call would make an exception
      onEnded(new IllegalStateException("the connection ended"));
    }
  }

  /**
   * Returns the command that is answered next, for drivers that read the replies themselves.
   *
   * @return the first unanswered command, or null if no reply is expected
   */
  public @Nullable EncodedRound<E> next() {
    EncodedRound<E> first = unanswered.peek();
    return state().isBefore(Phase.ENDED) ? first : null; // in this order: the end takes away
  }

  /**
   * Brings a reply to its round.
   *
   * @param command the command that is answered
   * @param reply see {@link Round#reply}
   */
  public void onReply(EncodedRound<E> command, @Nullable Object reply) {
    if (unanswered.remove(command)) {
      command.reply(node, reply);
      onAnswered();
    }
  }

  /**
   * Brings an error reply to its round.
   *
   * @param command the command that is answered
   * @param error see {@link Round#error}
   */
  public void onError(EncodedRound<E> command, String error) {
    if (unanswered.remove(command)) {
      command.error(node, error);
      onAnswered();
    }
  }

  /**
   * Drops the connection, which may give the reply to the next command, and brings the failure.
   *
   * @param command the command that has failed
   * @param cause why
   */
  public void onFailure(EncodedRound<E> command, Throwable cause) {
    boolean isUnanswered = unanswered.remove(command); // first: dropping fails all with one reason
    drop();
    if (isUnanswered) {
      command.failure(node, cause);
      onAnswered();
    }
  }

  CompletableFuture<Void> connected() {
    return connected;
  }

  /** Completes when it is closed and all was answered. */
  CompletableFuture<Void> over() {
    return over;
  }

  /**
   * Queues a command behind those that were queued before, to be written in the executor. If the
   * connection is not open any more, the command fails, though not in the calling thread. Never
   * throws: an Error, such as an exhausted stack, ends this connection at most.
   */
  void send(EncodedRound<E> command) {
    try {
      if (!state().wasOpen()) { // nor will it take commands that were submitted before
        InTurn.onNewThread(() -> command.failure(node, notConnected()));
        return;
      }
      unsent.add(command);
      ConnectionState<E> now = state();
      if (now.isBefore(Phase.ENDED)) {
        flush();
      } else { // the end may have missed it
        InTurn.run(now.writer(), () -> failIfUnsent(command));
      }
    } catch (RuntimeException | Error e) {
      try { // here: a call might find the stack exhausted once more
        onEnded(e);
      } catch (RuntimeException | Error ignored) {
        // the rounds behind this one must be counted
      }
    }
  }

  private void failIfUnsent(EncodedRound<E> command) {
    if (unsent.remove(command)) {
      command.failure(node, notConnected());
    }
  }

  static IllegalStateException notConnected() {
    return new IllegalStateException("not connected");
  }

  /** Writes what was queued, in the executor. Answers nothing in the calling thread. */
  private void flush() {
    ConnectionState<E> now = state();
    if (now.phase() == Phase.OPEN && flushing.compareAndSet(false, true)) {
      try {
        now.openWriter().executor().execute(writing);
      } catch (RuntimeException | Error e) {
        onEnded(e);
      }
    }
  }

  /**
   * Ends the connection, or the connecting, without waiting for what was queued before.
   *
   * @return completes when it is closed and all has failed
   */
  CompletableFuture<Void> drop() {
    ConnectionState<E> before =
        advance(Phase.STOPPED); // first: a failure during the closing is no fault
    if (before.isBefore(Phase.STOPPED)) {
      Exception dropped = new IllegalStateException("the connection was dropped");
      if (!before.wasOpen()) {
        connected.completeExceptionally(dropped);
      }
      if (before.writer() == null) {
        onEnded(dropped);
      } else {
        close(before.writer());
      }
    }
    return over;
  }

  /**
   * Drops the connection after writing what was queued before.
   *
   * @return completes when it is closed and all has failed
   */
  CompletableFuture<Void> close() {
    ConnectionState<E> now = state();
    if (now.phase() == Phase.OPEN) {
      InTurn.run(
          now.openWriter(),
          () -> {
            write(); // the commands that a later task would have written
            drop();
          });
    } else {
      drop();
    }
    return over;
  }

  /** Ends it in the calling thread: an executor that was shut down may have dropped its tasks. */
  void abandon(Throwable cause) {
    onEnded(cause);
    while (failNext(cause)) {
      // until nothing is left
    }
    conclude();
  }

  private ConnectionState<E> state() {
    return Objects.requireNonNull(state.get());
  }

  private ConnectionState<E> advance(Phase next) {
    return state.getAndUpdate(now -> now.isBefore(next) ? now.in(next) : now);
  }

  private void close(CommandWriter<E> writer) {
    try {
      writer.close();
    } catch (RuntimeException | Error e) {
      onEnded(e);
    }
  }

  private void write() {
    flushing.set(false);
    List<EncodedRound<E>> next = takeUnsent();
    ConnectionState<E> now = state(); // after taking: the end may have missed what was taken
    if (now.phase() != Phase.OPEN) {
      next.forEach(command -> onFailure(command, notConnected()));
    } else if (!next.isEmpty()) {
      try {
        now.openWriter().write(next);
      } catch (Exception | Error e) {
        onEnded(e);
      }
    }
  }

  private List<EncodedRound<E>> takeUnsent() {
    List<EncodedRound<E>> taken = new ArrayList<>(2); // most often one or two, not ten
    int room = isOpen() ? MAX_WRITTEN - written.get() : 0;
    for (EncodedRound<E> command; taken.size() < room && (command = unsent.poll()) != null; ) {
      taken.add(command);
      written.incrementAndGet(); // first: the end waits for the answer
      unanswered.add(command);
    }
    return taken;
  }

  private void onAnswered() {
    int left = written.decrementAndGet();
    if (!unsent.isEmpty()) {
      flush();
    }
    if (left == 0 && state().phase() == Phase.DRAINED) {
      conclude();
    }
  }

  private void failInTurns(CommandWriter<E> writer, Throwable cause) {
    for (int i = 0; i < FAILURES_A_TURN; i++) {
      if (!failNext(cause)) {
        advance(Phase.DRAINED); // before the look at what is left, as answers do it the other way
        if (written.get() == 0) {
          conclude();
        }
        return;
      }
    }
    InTurn.run(writer, () -> failInTurns(writer, cause));
  }

  private boolean failNext(Throwable cause) {
    EncodedRound<E> next = unanswered.poll();
    if (next != null) {
      next.failure(node, cause);
      onAnswered();
      return true;
    }
    next = unsent.poll();
    if (next != null) {
      next.failure(node, cause);
    }
    return next != null;
  }

  private void conclude() {
    ConnectionState<E> before = advance(Phase.OVER);
    if (before.isBefore(Phase.OVER)) {
      if (before.wasOpen()) {
        try {
          disconnected.run();
        } catch (RuntimeException | Error e) {
          Round.logUndelivered(e);
        }
      }
      over.complete(null);
    }
  }
}
