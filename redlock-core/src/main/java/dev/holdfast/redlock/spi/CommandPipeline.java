package dev.holdfast.redlock.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The commands of one connection, for drivers whose client writes without blocking. Commands are
 * written in the order in which they were added. When the connection ends, all unanswered commands
 * fail in this order, and each is answered once, whatever the client does with it later.
 *
 * <p>At most {@link #MAX_WRITTEN} commands are written and unanswered. Further commands wait: when
 * a connection ends, clients take their time for each written command, and it is the time of a
 * thread that all nodes share.
 *
 * <p>Safe for use by many threads.
 *
 * @param <C> a round, or a driver's object with the encoded command for all nodes of the round
 */
public final class CommandPipeline<C> {
  /** Maximum number of commands that are written before the first is answered. */
  private static final int MAX_WRITTEN = 1_000;

  /** Maximum number of commands that fail in one turn of the executor, which nodes share. */
  private static final int FAILURES_A_TURN = 250;

  /** Most often one or two commands are written in one go: the default of a list is ten. */
  private static final int FEW = 2;

  private final int node;
  private final Function<C, Round> rounds;
  private final Executor executor;
  private final Consumer<List<C>> writer;
  private final Queue<C> unsent = new ConcurrentLinkedQueue<>();
  private final Queue<C> unanswered = new ConcurrentLinkedQueue<>();
  private final AtomicInteger written = new AtomicInteger();
  private final AtomicBoolean flushing = new AtomicBoolean();

  /** One reason for all, because there may be thousands. As a driver's, it ends the connection. */
  private final Exception notConnected = new IllegalStateException("not connected");

  private volatile boolean opened;
  private volatile boolean stopped;

  /**
   * Makes the pipeline of a connection that is not open yet, so that commands fail.
   *
   * @param node the index of the connection
   * @param rounds returns the round that a command is for
   * @param executor runs one task at a time, in the order in which they come. If it rejects a task,
   *     the connection is taken as ended
   * @param writer writes commands in one go, called by the executor alone, does not block
   */
  public CommandPipeline(
      int node, Function<C, Round> rounds, Executor executor, Consumer<List<C>> writer) {
    this.node = node;
    this.rounds = rounds;
    this.executor = executor;
    this.writer = writer;
  }

  /** Lets commands be written, unless the pipeline was stopped. */
  public void open() {
    opened = true;
  }

  /** Lets later commands fail, while those that were written before may still be answered. */
  public void stop() {
    stopped = true;
  }

  /**
   * Adds a command behind those that were added before, and answers none. To be followed by {@link
   * #flush}.
   *
   * @param command what to write
   */
  public void add(C command) {
    unsent.add(command);
  }

  /** Writes what was added, in the executor, or lets it fail if the pipeline is not open. */
  public void flush() {
    if (!isOpen()) {
      failUnsent();
    } else if (flushing.compareAndSet(false, true)) {
      inTurn(this::flushNow);
    }
  }

  /** Writes what was added. For the executor's thread. */
  public void flushNow() {
    flushing.set(false);
    if (!isOpen()) {
      failUnsent();
      return;
    }
    List<C> next = new ArrayList<>(FEW);
    int room = MAX_WRITTEN - written.get();
    for (C command; next.size() < room && (command = unsent.poll()) != null; ) {
      next.add(command);
      unanswered.add(command);
    }
    if (!next.isEmpty()) {
      written.addAndGet(next.size());
      writer.accept(next);
    }
  }

  /**
   * Returns the command that is answered next, for drivers that read the replies themselves.
   *
   * @return the first unanswered command, or null if the node owes no reply or the pipeline was
   *     stopped
   */
  public @Nullable C next() {
    C first = unanswered.peek();
    return stopped ? null : first; // in this order: the end takes commands away once it is stopped
  }

  /**
   * Brings a reply to its round.
   *
   * @param command the command that is answered
   * @param reply see {@link Round#reply}
   */
  public void onReply(C command, @Nullable Object reply) {
    if (unanswered.remove(command)) {
      try {
        rounds.apply(command).reply(node, reply);
      } finally {
        answered();
      }
    }
  }

  /**
   * Brings an error reply to its round.
   *
   * @param command the command that is answered
   * @param error see {@link Round#error}
   */
  public void onError(C command, String error) {
    if (unanswered.remove(command)) {
      try {
        rounds.apply(command).error(node, error);
      } finally {
        answered();
      }
    }
  }

  /**
   * Brings the failure of a command to its round. The driver ends the connection.
   *
   * @param command the command that has failed
   * @param cause why
   */
  public void onFailure(C command, Throwable cause) {
    if (unanswered.remove(command)) {
      try {
        rounds.apply(command).failure(node, cause);
      } finally {
        answered();
      }
    }
  }

  /**
   * Ends the connection: what is not answered fails, in the executor.
   *
   * @param cause why it fails
   * @param then run when all has failed
   */
  public void end(Throwable cause, Runnable then) {
    stop();
    inTurn(() -> failInTurns(cause, then));
  }

  private void inTurn(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      stop();
      task.run();
    }
  }

  private boolean isOpen() {
    return opened && !stopped;
  }

  private void answered() {
    written.decrementAndGet();
    if (!unsent.isEmpty() && isOpen()) {
      flush();
    }
  }

  private void failInTurns(Throwable cause, Runnable then) {
    for (int i = 0; i < FAILURES_A_TURN; i++) {
      C next = unanswered.poll();
      if (next == null) {
        next = unsent.poll();
      }
      if (next == null) {
        then.run();
        return;
      }
      rounds.apply(next).failure(node, cause);
    }
    inTurn(() -> failInTurns(cause, then));
  }

  private void failUnsent() {
    for (C next = unsent.poll(); next != null; next = unsent.poll()) {
      rounds.apply(next).failure(node, notConnected);
    }
  }
}
