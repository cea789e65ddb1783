package dev.holdfast.redlock.redisson;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.CommandsData;

/**
 * One connection, from the attempt at it to its end. It ends at the first disconnect: by the time
 * that Redisson looks whether to reconnect it, it is closed. All is written, answered and ended by
 * the connection's event loop alone, which keeps the order; what is waiting when its turn comes
 * goes out as one batch.
 */
final class NodeConnection {
  private final Runnable whenEnded;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final Queue<CommandData<?, ?>> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean writing = new AtomicBoolean();

  /** What was written, in order. Of the event loop alone. */
  private final Deque<CommandData<?, ?>> unanswered = new ArrayDeque<>();

  private volatile @Nullable RedisConnection connection;
  private volatile boolean dropped;
  private volatile boolean ended;

  /**
   * Prepares for an attempt.
   *
   * @param whenEnded is run once after a connection that was made has ended, and all that was asked
   *     on it has failed
   */
  NodeConnection(Runnable whenEnded) {
    this.whenEnded = whenEnded;
  }

  /** Completes when the node has answered; exceptionally when that will not be, or if dropped. */
  CompletionStage<Void> open(Server server) {
    if (!dropped) {
      try {
        server
            .newClient()
            .connectAsync()
            .whenComplete(
                (made, failure) -> {
                  if (failure != null) {
                    ready.completeExceptionally(ErrorReply.reason(failure));
                  } else {
                    inTurn(made, () -> established(made, server));
                  }
                });
      } catch (RuntimeException e) {
        ready.completeExceptionally(e); // what the client runs on was shut down
      }
    }
    return ready;
  }

  /** Whether commands may be sent. */
  boolean isUsable() {
    return connection != null && !ended;
  }

  /** Sends a command after those that were sent before. Not before it is usable. */
  void send(CommandData<?, ?> command) {
    waiting.add(command);
    RedisConnection present = connection;
    if (present != null && writing.compareAndSet(false, true)) {
      inTurn(present, () -> write(present));
    }
  }

  /**
   * Ends it, after what was sent before; what is not answered fails. Completes when that is done.
   */
  CompletableFuture<Void> drop() {
    boolean first = !dropped;
    dropped = true;
    ready.completeExceptionally(new RedisConnectionException("dropped while it was connected"));
    RedisConnection present = connection;
    if (present == null) {
      return CompletableFuture.completedFuture(null);
    }
    if (first) {
      inTurn(present, present::closeAsync);
    }
    return closed;
  }

  private void established(RedisConnection made, Server server) {
    connection = made;
    made.getChannel().closeFuture().addListener(done -> end(made));
    if (dropped) {
      made.closeAsync();
      return;
    }
    Greeting.sendOn(this, server.yours().isEmpty())
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                ready.complete(null);
              } else {
                ready.completeExceptionally(ErrorReply.reason(failure));
                drop();
              }
            });
  }

  private void write(RedisConnection present) {
    writing.set(false);
    List<CommandData<?, ?>> batch = takeWaiting();
    if (ended) {
      fail(batch);
      return;
    }
    for (CommandData<?, ?> command : batch) {
      unanswered.add(command);
      command.getPromise().whenComplete((reply, failure) -> unanswered.remove(command));
    }
    if (batch.size() == 1) {
      present.send(batch.get(0));
    } else if (!batch.isEmpty()) {
      present.send(new CommandsData(new CompletableFuture<>(), batch, false, false));
    }
  }

  private void end(RedisConnection made) {
    ended = true;
    dropped = true;
    made.closeAsync();
    List<CommandData<?, ?>> left = new ArrayList<>(unanswered);
    unanswered.clear();
    left.addAll(takeWaiting());
    fail(left);
    ready.completeExceptionally(new RedisConnectionException("the connection ended"));
    if (!ready.isCompletedExceptionally()) {
      whenEnded.run();
    }
    closed.complete(null);
  }

  private List<CommandData<?, ?>> takeWaiting() {
    List<CommandData<?, ?>> taken = new ArrayList<>();
    for (CommandData<?, ?> next = waiting.poll(); next != null; next = waiting.poll()) {
      taken.add(next);
    }
    return taken;
  }

  private static void fail(List<CommandData<?, ?>> commands) {
    if (!commands.isEmpty()) {
      RedisConnectionException cause = new RedisConnectionException("the connection ended");
      commands.forEach(command -> command.tryFailure(cause));
    }
  }

  /** On the event loop, after what was handed to it before. */
  private void inTurn(RedisConnection on, Runnable task) {
    try {
      on.getChannel().eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // the event loop is no more, so neither is the connection
      ended = true;
      fail(takeWaiting());
      ready.completeExceptionally(e);
      closed.complete(null);
    }
  }
}
