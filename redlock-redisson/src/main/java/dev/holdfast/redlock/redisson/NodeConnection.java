package dev.holdfast.redlock.redisson;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.CommandDecoder;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.handler.ErrorsLoggingHandler;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommand;
import org.redisson.client.protocol.QueueCommandHolder;
import org.redisson.client.protocol.RedisCommand;

/**
 * One connection, from the attempt at it to its end. It ends at the first disconnect: by the time
 * that Redisson looks whether to make it again, it is closed. All is written, answered and ended by
 * the channel's event loop alone, which keeps the order; what is waiting when its turn comes goes
 * out in one go.
 */
final class NodeConnection {
  /** By when the reason of an end has come, if there is one. */
  private static final long REASON_MILLIS = 100;

  /** What an operator sees in {@code CLIENT LIST}. */
  private static final String CLIENT_NAME = "holdfast";

  /** What more is asked of a node that hangs waits here: netty would fail it all in one go. */
  private static final int MOST_WRITTEN = 1_000;

  /** In one turn of the loop, which is that of all nodes: after a second there are thousands. */
  private static final int FAILURES_A_TURN = 250;

  private static final RedisCommand<Object> PING = new RedisCommand<>("PING");
  private static final RedisCommand<Object> SET_NAME = new RedisCommand<>("CLIENT", "SETNAME");

  private final Runnable whenEnded;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private final Queue<CommandData<?, ?>> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean writing = new AtomicBoolean();

  /** How much is written and not answered. Of the event loop alone, as is the next. */
  private int written;

  private boolean inMidBatch;

  private volatile @Nullable Channel channel;
  private volatile boolean usable;
  private volatile boolean dropped;

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
  CompletionStage<Void> open(Server server, Duration connectTimeout) {
    if (!dropped) {
      try {
        Attempts.client(server, connectTimeout, this::begun)
            .connectAsync()
            .whenComplete(
                (made, failure) -> {
                  if (failure != null) {
                    ready.completeExceptionally(failure);
                  } else {
                    inTurn(made.getChannel(), () -> greet(server.yours() == null));
                  }
                });
      } catch (RuntimeException e) {
        ready.completeExceptionally(e); // what the client runs on was shut down
      }
    }
    return ready;
  }

  /** Lets a command wait behind those that were queued before, for the next flush. */
  void queue(CommandData<?, ?> command) {
    waiting.add(command);
  }

  /** Sends what is queued; lets it fail if there is no connection. */
  void flush() {
    Channel present = channel;
    if (present == null || !usable) {
      failWaiting("not connected");
    } else if (writing.compareAndSet(false, true)) {
      inTurn(present, () -> write(present));
    }
  }

  /**
   * Ends it after what was queued before and the node has taken. What is not answered fails.
   * Completes when all did.
   */
  CompletableFuture<Void> drop() {
    if (dropped && channel != null) {
      return over; // each command that fails asks for it
    }
    dropped = true;
    ready.completeExceptionally(new RedisConnectionException("dropped while it was made"));
    Channel present = channel;
    if (present == null) {
      return CompletableFuture.completedFuture(null);
    }
    inTurn(present, present::close); // never in the midst of a batch
    return over;
  }

  /** Before anything is sent. */
  private void begun(Channel opened) {
    ChannelPipeline handlers = opened.pipeline();
    handlers.addFirst("holdfast-batches", new Batches());
    handlers.replace(CommandDecoder.class, "holdfast-replies", new Replies());
    handlers.replace(ErrorsLoggingHandler.class, "holdfast-errors", new Errors());
    channel = opened;
    opened.closeFuture().addListener(done -> end(opened));
    if (dropped) {
      opened.close();
    }
  }

  /**
   * The first commands, after what Redisson itself sends. A user who may not {@code PING} may still
   * lock; and none needs the right to give the connection a name.
   *
   * @param ours whether to name the connection; those of the user's client bear that one's name
   */
  private void greet(boolean ours) {
    if (over.isDone()) {
      return;
    }
    usable = true;
    if (ours) {
      queue(command(new CompletableFuture<>(), SET_NAME, CLIENT_NAME));
    }
    CompletableFuture<Object> pong = new CompletableFuture<>();
    queue(command(pong, PING));
    flush();
    pong.whenComplete(
        (reply, failure) -> {
          if (failure == null || String.valueOf(failure.getMessage()).startsWith("NOPERM ")) {
            ready.complete(null);
          } else {
            ready.completeExceptionally(failure);
            drop();
          }
        });
  }

  private static CommandData<Object, Object> command(
      CompletableFuture<Object> answer, RedisCommand<Object> name, Object... arguments) {
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }

  private void write(Channel present) {
    writing.set(false);
    if (!usable) {
      failWaiting("the connection ended");
      return;
    }
    inMidBatch = true;
    while (written < MOST_WRITTEN) {
      CommandData<?, ?> next = waiting.poll();
      if (next == null) {
        break;
      }
      written++;
      next.getPromise().whenComplete((reply, failure) -> answered());
      present.write(next).addListener(sent -> written(next, sent.cause()));
    }
    inMidBatch = false;
    present.flush();
  }

  /** Redisson forgets what cannot be written. At the end of a connection all fails together. */
  private void written(CommandData<?, ?> command, @Nullable Throwable failure) {
    if (failure != null && usable) {
      command.tryFailure(failure);
    }
  }

  private void answered() {
    written--;
    if (usable && !waiting.isEmpty()) {
      flush();
    }
  }

  private void end(Channel closed) {
    usable = false;
    dropped = true;
    RedisConnection redisson = RedisConnection.getFrom(closed);
    if (redisson != null) {
      redisson.closeAsync(); // or it would be made again
    }
    RedisConnectionException cause = new RedisConnectionException("the connection ended");
    // or a future would wrap it, with a stack trace, for each command
    CompletionException forAll = new CompletionException(cause);
    failInTurns(closed, unanswered(closed), forAll, () -> ended(closed, cause));
  }

  /**
   * In order. Takes what was written away from Redisson, which would now look for each command
   * among all others, and describe it.
   */
  private Queue<QueueCommand> unanswered(Channel closed) {
    Queue<QueueCommand> commands = new ArrayDeque<>();
    Queue<QueueCommandHolder> theirs = closed.attr(CommandsQueue.COMMANDS_QUEUE).get();
    if (theirs != null) { // not dropped before it was registered
      for (QueueCommandHolder next = theirs.poll(); next != null; next = theirs.poll()) {
        commands.add(next.getCommand());
      }
    }
    for (CommandData<?, ?> next = waiting.poll(); next != null; next = waiting.poll()) {
      commands.add(next);
    }
    return commands;
  }

  private static void failInTurns(
      Channel closed, Queue<QueueCommand> commands, CompletionException cause, Runnable then) {
    for (int i = 0; i < FAILURES_A_TURN && !commands.isEmpty(); i++) {
      commands.remove().tryFailure(cause);
    }
    if (commands.isEmpty()) {
      then.run();
      return;
    }
    try {
      closed.eventLoop().execute(() -> failInTurns(closed, commands, cause, then));
    } catch (RejectedExecutionException e) {
      commands.forEach(command -> command.tryFailure(cause)); // the last turn of all
      then.run();
    }
  }

  private void ended(Channel closed, RedisConnectionException cause) {
    failWaiting("the connection ended");
    if (ready.isDone() && !ready.isCompletedExceptionally()) {
      whenEnded.run();
    }
    over.complete(null);
    if (!ready.isDone()) {
      closed
          .eventLoop()
          .schedule(() -> ready.completeExceptionally(cause), REASON_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void failWaiting(String reason) {
    RedisConnectionException cause = null; // one for all, because there may be thousands
    for (CommandData<?, ?> next = waiting.poll(); next != null; next = waiting.poll()) {
      cause = cause == null ? new RedisConnectionException(reason) : cause;
      next.tryFailure(cause);
    }
  }

  /** On the event loop, after what was handed to it before. */
  private void inTurn(Channel on, Runnable task) {
    try {
      on.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // the event loop is no more, so neither is the connection
      usable = false;
      failWaiting("the connection ended");
      ready.completeExceptionally(e);
      over.complete(null);
    }
  }

  /** Next to the socket. */
  private final class Batches extends ChannelOutboundHandlerAdapter {
    /** Redisson flushes after each command. */
    @Override
    public void flush(ChannelHandlerContext context) {
      if (!inMidBatch) {
        context.flush();
      }
    }
  }

  /** What fails on a connection ends it, and is said once, by the manager. */
  private final class Errors extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      ready.completeExceptionally(cause);
      context.close();
    }
  }
}
