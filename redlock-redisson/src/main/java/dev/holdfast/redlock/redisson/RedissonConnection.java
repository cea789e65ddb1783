package dev.holdfast.redlock.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.EncodedRound;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnection;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.CommandDecoder;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.handler.ErrorsLoggingHandler;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommandHolder;
import org.redisson.client.protocol.RedisCommand;

/**
 * A channel of Redisson's that serves commands. It ends at the first disconnect: when Redisson
 * checks whether to reconnect, it is closed. The channel's event loop alone writes, answers and
 * ends everything, which keeps the order. Commands that wait for it go out in one write.
 */
final class RedissonConnection implements CommandWriter<RedissonConnection.Encoded> {
  /** The time in which the reason for an end arrives, if there is one. */
  private static final long REASON_MILLIS = 100;

  private final Channel channel;
  private final CommandConnection<Encoded> commands;

  private final GenericFutureListener<Future<Void>> written =
      this::onWritten; // one for all commands

  /** True while a batch is being written. Only the event loop reads and changes it. */
  private boolean inMidBatch;

  private RedissonConnection(Channel channel, CommandConnection<Encoded> commands) {
    this.channel = channel;
    this.commands = commands;
  }

  /** Takes a channel over as soon as there is one, before anything is sent. */
  static void begin(Channel opened, CommandConnection<Encoded> commands) {
    RedissonConnection connection = new RedissonConnection(opened, commands);
    ChannelPipeline handlers = opened.pipeline();
    handlers.addFirst("holdfast-batches", connection.new Batches());
    handlers.replace(CommandDecoder.class, "holdfast-replies", new Replies());
    handlers.replace(ErrorsLoggingHandler.class, "holdfast-errors", connection.new Errors());
    opened.closeFuture().addListener(done -> connection.onClosed());
    commands.onBegun(connection);
  }

  @Override
  public Executor executor() {
    return channel.eventLoop();
  }

  @Override
  public void write(List<EncodedRound<Encoded>> rounds) {
    inMidBatch = true;
    try {
      for (EncodedRound<Encoded> round : rounds) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        answer.whenComplete((reply, failure) -> onAnswered(round, reply, failure));
        channel.write(round.command().with(answer)).addListener(written);
      }
    } finally {
      inMidBatch = false;
    }
    channel.flush();
  }

  private void onAnswered(
      EncodedRound<Encoded> round, @Nullable Object reply, @Nullable Throwable failure) {
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

  /**
   * Ends the connection if a command cannot be written, because Redisson forgets such commands. If
   * the channel is closed, its end says so in words.
   */
  private void onWritten(Future<?> writing) {
    if (writing.cause() != null && !(writing.cause() instanceof ClosedChannelException)) {
      commands.onEnded(writing.cause());
    }
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
      channel.eventLoop().schedule(() -> commands.onEnded(), REASON_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      commands.onEnded();
    }
  }

  /** A command as Redisson takes it, encoded once for all nodes of a round. */
  static final class Encoded {
    private final RedisCommand<Object> name;
    private final Object[] arguments;

    Encoded(Command command) {
      List<String> words = command.words();
      this.name = new RedisCommand<>(words.get(0));
      this.arguments = words.stream().skip(1).map(word -> word.getBytes(UTF_8)).toArray();
    }

    private CommandData<Object, Object> with(CompletableFuture<Object> answer) {
      return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
    }
  }

  /**
   * Keeps the flushes back that Redisson does after each command of a batch. Netty's {@code
   * FlushConsolidationHandler} would flush in a task of its own: with 32 threads it took a fifth of
   * the locks per second.
   */
  private final class Batches extends ChannelOutboundHandlerAdapter {
    @Override
    public void flush(ChannelHandlerContext context) {
      if (!inMidBatch) {
        context.flush();
      }
    }
  }

  /** A handler that ends the connection at an error. The manager reports it once. */
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
