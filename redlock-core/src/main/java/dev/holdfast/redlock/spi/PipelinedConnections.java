package dev.holdfast.redlock.spi;

import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;

/**
 * One {@link CommandConnection} to each node of {@link PipelinedNodes}.
 *
 * @param <E> a command as the client takes it
 */
final class PipelinedConnections<E> implements RedisConnections {
  /** Maximum number of rounds that a thread queues while it submits one. Takes about 1 ms. */
  private static final int MAX_QUEUED = 1_000;

  private final List<RedisNode<E>> nodes;
  private final Function<Command, E> encoder;
  private final Set<CommandConnection<E>> lives;
  private final AtomicBoolean closed;

  /** The latest life of each node's connection. */
  private final AtomicReferenceArray<CommandConnection<E>> connections;

  /** Each is queued for all of its nodes before the next one, which an answer may bring. */
  private final Queue<EncodedRound<E>> submitted = new ConcurrentLinkedQueue<>();

  private final AtomicInteger unqueued = new AtomicInteger();

  /**
   * Connects nothing yet.
   *
   * @param lives gets all connections that are not over, also those that were replaced
   * @param closed whether no other connection may be made
   */
  PipelinedConnections(
      List<RedisNode<E>> nodes,
      Function<Command, E> encoder,
      Set<CommandConnection<E>> lives,
      AtomicBoolean closed) {
    this.nodes = nodes;
    this.encoder = encoder;
    this.lives = lives;
    this.closed = closed;
    this.connections = new AtomicReferenceArray<>(nodes.size());
    for (int node = 0; node < nodes.size(); node++) {
      connections.set(node, new CommandConnection<>(node, () -> {})); // never connected
    }
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    CommandConnection<E> connection = new CommandConnection<>(node, disconnected);
    lives.add(connection);
    connection.over().thenRun(() -> lives.remove(connection));
    connections.getAndSet(node, connection).drop();
    if (closed.get()) { // after it can be found: closing may have missed it
      connection.drop();
    } else {
      try {
        nodes.get(node).connect(connection);
      } catch (RuntimeException | Error e) {
        connection.onEnded(e);
      }
    }
    return connection.connected();
  }

  @Override
  public void disconnect(int node) {
    connections.get(node).drop();
  }

  @Override
  public void submit(Round round) {
    NodeSet open = round.nodes().filter(node -> connections.get(node).isOpen());
    if (!open.isEmpty()) {
      submitted.add(new EncodedRound<>(round.to(open), encoder.apply(round.command())));
      // waits for no other thread: the one that queues a round goes on with what comes meanwhile
      if (unqueued.getAndIncrement() == 0 && !queueSome()) {
        InTurn.onNewThread(this::queueRemaining);
      }
    }
    if (!open.equals(round.nodes())) {
      IllegalStateException cause = CommandConnection.notConnected();
      round.nodes().minus(open).forEach(node -> round.failure(node, cause));
    }
  }

  private void queueRemaining() {
    while (!queueSome()) {
      // others submit without a pause
    }
  }

  /**
   * Queues what was submitted, up to {@link #MAX_QUEUED} rounds.
   *
   * @return whether nothing is left
   */
  private boolean queueSome() {
    for (int i = 0; i < MAX_QUEUED; i++) {
      EncodedRound<E> next = Objects.requireNonNull(submitted.poll());
      next.nodes().forEach(node -> connections.get(node).send(next));
      if (unqueued.decrementAndGet() == 0) {
        return true;
      }
    }
    return false;
  }
}
