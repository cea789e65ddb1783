package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from the attempt at it to its end. It ends at the first disconnect, whatever the
 * client would do then.
 */
final class NodeConnection implements RedisConnectionStateListener {
  /** One of our own, by which our own client knows our connections. */
  static final RedisCodec<String, String> CODEC = new StringCodec(UTF_8);

  /**
   * What more is asked of a node that hangs waits here: when its connection ends, Lettuce and netty
   * take their time for each command that was written, and it is that of the loop of all nodes.
   */
  private static final int MOST_WRITTEN = 1_000;

  private final Runnable whenOver;
  private final Executor sender;
  private final boolean opensBatches;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** The connection, and each command that was asked on it and has no answer. */
  private final AtomicInteger notOver = new AtomicInteger(1);

  /** Those of them that were written. At the end, when the others fail, it says nothing. */
  private final AtomicInteger written = new AtomicInteger();

  /** The others, in order. */
  private final Queue<NodeCommand> waiting = new ConcurrentLinkedQueue<>();

  /** One reason for all that fails at the end, because there may be thousands. */
  private final RedisConnectionException end =
      new RedisConnectionException("the connection has ended");

  private volatile boolean dropped;
  private volatile @Nullable RedisChannelHandler<?, ?> connection;
  private volatile @Nullable RedisChannelWriter writer;

  /**
   * Prepares for an attempt.
   *
   * @param whenOver is run once after a connection that was made has ended, and all that was asked
   *     on it is answered for
   * @param sender the thread that writes
   * @param opensBatches whether its client's pipelines have an {@link NodeBatch.Opener}
   */
  NodeConnection(Runnable whenOver, Executor sender, boolean opensBatches) {
    this.whenOver = whenOver;
    this.sender = sender;
    this.opensBatches = opensBatches;
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
    if (!handler.isOpen()) {
      onRedisDisconnected(handler); // the listener came too late to be told
    }
  }

  /** Whether it can be written to. */
  boolean isUsable() {
    return writer != null && !dropped && !ended.get();
  }

  /** Why a command fails that the end leaves unanswered. */
  RedisConnectionException end() {
    return end;
  }

  /** Sends all in one go, if the node keeps up. By the sender alone, if it is usable. */
  void send(List<NodeCommand> commands) {
    if (waiting.isEmpty() && written.get() + commands.size() <= MOST_WRITTEN) {
      write(commands);
    } else {
      waiting.addAll(commands);
      sendWaiting();
    }
  }

  private void sendWaiting() {
    if (!isUsable()) {
      failWaiting();
      return;
    }
    int room = MOST_WRITTEN - written.get();
    List<NodeCommand> next = new ArrayList<>();
    for (NodeCommand command; next.size() < room && (command = waiting.poll()) != null; ) {
      next.add(command);
    }
    if (!next.isEmpty()) {
      write(next);
    }
    if (!waiting.isEmpty() && written.get() < MOST_WRITTEN) {
      sender.execute(this::sendWaiting); // after what other nodes are to be sent
    }
  }

  private void write(List<NodeCommand> commands) {
    written.addAndGet(commands.size());
    RedisChannelWriter out = writer;
    if (out != null && opensBatches) {
      out.write(new NodeBatch(commands));
    } else if (out != null) {
      out.write(commands);
    }
    if (!isUsable()) {
      // Lettuce may forget what comes in just when a connection ends
      commands.forEach(command -> command.completeExceptionally(end));
    }
  }

  /** A command is on its way. */
  void begun() {
    notOver.incrementAndGet();
  }

  /** A command is done with. If there was no room, others may wait for its place. */
  void answered() {
    if (written.getAndDecrement() == MOST_WRITTEN) {
      sender.execute(this::sendWaiting);
    }
    over();
  }

  /** A command, or the connection itself, is done with. */
  private void over() {
    if (notOver.decrementAndGet() == 0) {
      whenOver.run();
    }
  }

  /** Ends it; what is not answered fails. Completes when that is done. */
  CompletableFuture<Void> drop() {
    dropped = true;
    RedisChannelHandler<?, ?> present = connection;
    if (present == null) {
      return CompletableFuture.completedFuture(null);
    }
    close(present);
    return closed;
  }

  /** Told after the commands that the server has got have failed, but others may be under way. */
  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
    if (ended.compareAndSet(false, true)) {
      close(disconnected);
      sender.execute(
          () -> {
            try {
              failWaiting();
            } finally {
              over();
            }
          });
    }
  }

  private void failWaiting() {
    for (NodeCommand next; (next = waiting.poll()) != null; ) {
      next.completeExceptionally(end);
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
   * Lettuce's would keep each command for as long as its time-out.
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
