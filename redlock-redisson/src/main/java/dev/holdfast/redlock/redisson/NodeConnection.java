package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.spi.CommandPipeline;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.CommandDecoder;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.handler.ErrorsLoggingHandler;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommandHolder;
import org.redisson.client.protocol.RedisCommand;

/**
 * One connection, from the attempt at it to its end. It ends at the first disconnect: by the time
 * that Redisson looks whether to make it again, it is closed. All is written, answered and ended by
 * the channel's event loop alone, which keeps the order; what is waiting when its turn comes goes
 * out in one go.
 */
final class NodeConnection {
  /** The time in which the reason for an end arrives, if there is one. */
  private static final long REASON_MILLIS = 100;

  /** The client name that {@code CLIENT LIST} shows. */
  private static final String CLIENT_NAME = "holdfast";

  private static final RedisCommand<Object> PING = new RedisCommand<>("PING");
  private static final RedisCommand<Object> SET_NAME = new RedisCommand<>("CLIENT", "SETNAME");

  private final Runnable whenEnded;
  private final CommandPipeline<EncodedRound> commands;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();

  /** Whether a batch is being written, which only the event loop reads and changes. */
  private boolean inMidBatch;

  private volatile @Nullable Channel channel;
  private volatile boolean dropped;

  /**
   * Prepares for an attempt.
   *
   * @param node its index
   * @param whenEnded is run once after a connection that was made has ended, and all that was asked
   *     on it has failed
   */
  NodeConnection(int node, Runnable whenEnded) {
    this.whenEnded = whenEnded;
    this.commands = new CommandPipeline<>(node, EncodedRound::round, this::inTurn, this::write);
  }

  /** Returns what is asked on it. */
  CommandPipeline<EncodedRound> commands() {
    return commands;
  }

  /** Completes when the node has answered; exceptionally when that will not be, or if dropped. */
  CompletableFuture<Void> open(Server server, Duration connectTimeout) {
    if (!dropped) {
      try {
        ClientFactory.client(server, connectTimeout, this::begun)
            .connectAsync()
            .whenComplete(
                (made, failure) -> {
                  if (failure != null) {
                    ready.completeExceptionally(failure);
                  } else {
                    inTurn(() -> greet(made.getChannel(), server.yours() == null));
                  }
                });
      } catch (RuntimeException e) {
        ready.completeExceptionally(e); // what the client runs on was shut down
      }
    }
    return ready;
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
    inTurn(present::close); // never in the midst of a batch
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
  private void greet(Channel present, boolean ours) {
    if (over.isDone()) {
      return;
    }
    if (ours) {
      present.write(command(new CompletableFuture<>(), SET_NAME, CLIENT_NAME));
    }
    CompletableFuture<Object> pong = new CompletableFuture<>();
    pong.whenComplete(
        (reply, failure) -> {
          if (failure == null || String.valueOf(failure.getMessage()).startsWith("NOPERM ")) {
            commands.open();
            ready.complete(null);
          } else {
            ready.completeExceptionally(failure);
            drop();
          }
        });
    CommandData<Object, Object> ping = command(pong, PING);
    present.writeAndFlush(ping).addListener(sent -> written(ping, sent.cause()));
  }

  private static CommandData<Object, Object> command(
      CompletableFuture<Object> answer, RedisCommand<Object> name, Object... arguments) {
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }

  private void write(List<EncodedRound> rounds) {
    Channel present = Objects.requireNonNull(channel);
    inMidBatch = true;
    for (EncodedRound round : rounds) {
      CommandData<Object, Object> command = round.to(this);
      present.write(command).addListener(sent -> written(command, sent.cause()));
    }
    inMidBatch = false;
    present.flush();
  }

  /**
   * Fails a command that could not be written, because Redisson forgets such commands. If the
   * channel is closed, {@link #end} fails all commands together and says so in words.
   */
  private void written(CommandData<?, ?> command, @Nullable Throwable failure) {
    if (failure != null && !over.isDone() && !(failure instanceof ClosedChannelException)) {
      command.tryFailure(failure);
    }
  }

  /** A connection on which a command failed may give its reply to the next one: it is dropped. */
  void answered(EncodedRound round, @Nullable Object reply, @Nullable Throwable failure) {
    if (failure == null) {
      commands.onReply(round, reply);
    } else if (failure instanceof Replies.ErrorReply error) {
      commands.onError(round, String.valueOf(error.getMessage()));
    } else {
      drop();
      commands.onFailure(round, failure);
    }
  }

  private void end(Channel closed) {
    dropped = true;
    RedisConnection redisson = RedisConnection.getFrom(closed);
    if (redisson != null) {
      redisson.closeAsync(); // or it would be made again
    }
    // would be looked for one by one, and described, by Redisson
    Queue<QueueCommandHolder> theirs = closed.attr(CommandsQueue.COMMANDS_QUEUE).get();
    if (theirs != null) { // not dropped before it was registered
      theirs.clear();
    }
    RedisConnectionException cause = new RedisConnectionException("the connection ended");
    commands.end(cause, () -> ended(closed, cause));
  }

  private void ended(Channel closed, RedisConnectionException cause) {
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

  /** Runs a task on the event loop, after the tasks before it. */
  private void inTurn(Runnable task) {
    try {
      Objects.requireNonNull(channel).eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // the event loop is no more, so neither is the connection
      commands.stop();
      task.run();
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

  /** A handler that ends the connection at an error; the manager reports it once. */
  private final class Errors extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      ready.completeExceptionally(cause);
      context.close();
    }
  }
}
