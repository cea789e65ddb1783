package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.EncodedRound;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.handler.CommandDecoder;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.handler.ErrorsLoggingHandler;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommandHolder;

/**
 * A channel of Redisson's that serves commands. It ends at the first disconnect: by the time that
 * Redisson looks whether to make it again, it is closed. All is written, answered and ended by the
 * channel's event loop alone, which keeps the order; what is waiting when its turn comes goes out
 * in one go.
 */
final class RedissonConnection implements CommandWriter<RedissonCommand> {
  /** The time in which the reason for an end arrives, if there is one. */
  private static final long REASON_MILLIS = 100;

  private static final RedissonCommand PING =
      new RedissonCommand(new Command.Plain(List.of("PING")));
  private static final RedissonCommand SET_NAME =
      new RedissonCommand(new Command.Plain(List.of("CLIENT", "SETNAME", "holdfast")));

  private final Channel channel;
  private final CommandConnection<RedissonCommand> commands;
  private final RedisConnectionException end = new RedisConnectionException("the connection ended");

  /** Whether a batch is being written, which only the event loop reads and changes. */
  private boolean inMidBatch;

  private RedissonConnection(Channel channel, CommandConnection<RedissonCommand> commands) {
    this.channel = channel;
    this.commands = commands;
  }

  /** Takes a channel over as soon as there is one, before anything is sent. */
  static void begin(Channel opened, CommandConnection<RedissonCommand> commands) {
    RedissonConnection connection = new RedissonConnection(opened, commands);
    ChannelPipeline handlers = opened.pipeline();
    handlers.addFirst("holdfast-batches", connection.new Batches());
    handlers.replace(CommandDecoder.class, "holdfast-replies", new Replies());
    handlers.replace(ErrorsLoggingHandler.class, "holdfast-errors", connection.new Errors());
    opened.closeFuture().addListener(done -> connection.onClosed());
    commands.onBegun(connection);
  }

  /**
   * Sends the first commands, after what Redisson itself sends. A user who may not {@code PING} may
   * still lock; and none needs the right to give the connection a name.
   *
   * @param ours whether to name the connection; those of the user's client bear that one's name
   */
  static void greet(Channel channel, boolean ours, CommandConnection<RedissonCommand> commands) {
    if (ours) {
      channel.write(SET_NAME.to(new CompletableFuture<>()));
    }
    CompletableFuture<Object> pong = new CompletableFuture<>();
    pong.whenComplete(
        (reply, failure) -> {
          if (failure == null || String.valueOf(failure.getMessage()).startsWith("NOPERM ")) {
            commands.onConnected();
          } else {
            commands.onEnded(failure);
          }
        });
    write(channel, PING.to(pong));
    channel.flush();
  }

  @Override
  public Executor executor() {
    return channel.eventLoop();
  }

  @Override
  public void write(List<EncodedRound<RedissonCommand>> rounds) {
    inMidBatch = true;
    try {
      for (EncodedRound<RedissonCommand> round : rounds) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        answer.whenComplete((reply, failure) -> answered(round, reply, failure));
        write(channel, round.command().to(answer));
      }
    } finally {
      inMidBatch = false;
    }
    channel.flush();
  }

  /**
   * Writes a command, and fails it if that cannot be done, because Redisson forgets such commands.
   * If the channel is closed, all commands fail together and say so in words.
   */
  private static void write(Channel channel, CommandData<?, ?> command) {
    channel
        .write(command)
        .addListener(
            sent -> {
              if (sent.cause() != null && !(sent.cause() instanceof ClosedChannelException)) {
                command.tryFailure(sent.cause());
              }
            });
  }

  private void answered(
      EncodedRound<RedissonCommand> round, @Nullable Object reply, @Nullable Throwable failure) {
    if (failure == null) {
      commands.onReply(round, reply);
    } else if (failure instanceof Replies.ErrorReply error) {
      commands.onError(round, String.valueOf(error.getMessage()));
    } else {
      commands.onFailure(round, failure);
    }
  }

  /** Closes it in a turn of its own, never in the midst of a batch. */
  @Override
  public void close() {
    channel.eventLoop().execute(channel::close);
  }

  private void onClosed() {
    RedisConnection redisson = RedisConnection.getFrom(channel);
    if (redisson != null) {
      redisson.closeAsync(); // or it would be made again
    }
    // would be looked for one by one, and described, by Redisson
    Queue<QueueCommandHolder> theirs = channel.attr(CommandsQueue.COMMANDS_QUEUE).get();
    if (theirs != null) { // not dropped before it was registered
      theirs.clear();
    }
    if (commands.isConnecting() && !channel.eventLoop().isShuttingDown()) {
      channel
          .eventLoop()
          .schedule(() -> commands.onEnded(end), REASON_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      commands.onEnded(end);
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
      if (commands.isConnecting()) {
        commands.onEnded(cause);
      }
      context.close();
    }
  }
}
