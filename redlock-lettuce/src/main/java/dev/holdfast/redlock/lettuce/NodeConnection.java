package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.CommandPipeline;
import io.lettuce.core.CommandListenerWriter;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandExpiryWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from the attempt at it to its end. It ends at the first disconnect, whatever the
 * client would do then.
 */
final class NodeConnection implements RedisConnectionStateListener {
  /** One of our own, by which our own client knows our connections. */
  static final RedisCodec<String, String> CODEC = new StringCodec(UTF_8);

  private final CommandPipeline<EncodedRound> commands;
  private final Runnable whenOver;
  private final boolean opensBatches;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** One reason for all that fails at the end, because there may be thousands. */
  private final RedisConnectionException end =
      new RedisConnectionException("the connection has ended");

  private volatile boolean dropped;
  private volatile @Nullable RedisChannelHandler<?, ?> connection;
  private volatile @Nullable RedisChannelWriter writer;

  /**
   * Prepares for an attempt.
   *
   * @param node its index
   * @param whenOver is run once after a connection that was made has ended, and all that was asked
   *     on it is answered for
   * @param sender the thread that writes
   * @param opensBatches whether its client's pipelines have an {@link NodeBatch.Opener}
   */
  NodeConnection(int node, Runnable whenOver, Executor sender, boolean opensBatches) {
    this.commands = new CommandPipeline<>(node, EncodedRound::round, sender, this::write);
    this.whenOver = whenOver;
    this.opensBatches = opensBatches;
  }

  /** Returns what is asked on it. */
  CommandPipeline<EncodedRound> commands() {
    return commands;
  }

  /** The attempt has succeeded. */
  void established(StatefulRedisConnection<String, String> established) {
    RedisChannelHandler<?, ?> handler = (RedisChannelHandler<?, ?>) established;
    connection = handler;
    if (dropped) {
      close(handler);
      throw new RedisConnectionException("dropped while it was being connected");
    }
    handler.addListener(this);
    writer = innermost(handler.getChannelWriter());
    commands.open();
    if (!handler.isOpen()) {
      onRedisDisconnected(handler); // the listener came too late to be told
    }
  }

  /** Returns the failure of commands that the end of the connection leaves unanswered. */
  RedisConnectionException end() {
    return end;
  }

  private void write(List<EncodedRound> rounds) {
    List<NodeCommand> batch = new ArrayList<>(rounds.size()); // a stream took 1.3 KB a lock
    for (EncodedRound round : rounds) {
      batch.add(new NodeCommand(round, this));
    }
    RedisChannelWriter out = Objects.requireNonNull(writer);
    if (opensBatches) {
      out.write(new NodeBatch(batch));
    } else {
      out.write(batch);
    }
  }

  /** Ends it; what is not answered fails. Completes when that is done. */
  CompletableFuture<Void> drop() {
    dropped = true;
    commands.stop();
    RedisChannelHandler<?, ?> present = connection;
    if (present == null) {
      return CompletableFuture.completedFuture(null);
    }
    close(present);
    return closed;
  }

  /** Lettuce may forget what comes in just when a connection ends: the pipeline does not. */
  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
    if (ended.compareAndSet(false, true)) {
      close(disconnected);
      commands.end(end, whenOver);
    }
  }

  /** Once, because Lettuce warns of more. */
  private void close(RedisChannelHandler<?, ?> present) {
    if (closing.compareAndSet(false, true)) {
      present.closeAsync().whenComplete((done, failure) -> closed.complete(null));
    }
  }

  /**
   * Leaves out what a client wraps around it. Rounds have a deadline of their own, and a timer of
   * Lettuce's would keep each command for as long as its timeout.
   */
  private static RedisChannelWriter innermost(RedisChannelWriter writer) {
    if (writer instanceof CommandListenerWriter listening) {
      return innermost(listening.getDelegate());
    }
    return writer instanceof CommandExpiryWriter expiring
        ? innermost(expiring.getDelegate())
        : writer;
  }
}
