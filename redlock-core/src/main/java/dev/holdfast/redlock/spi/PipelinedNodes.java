package dev.holdfast.redlock.spi;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The port over clients that write without waiting for the reply: nodes that are each reached by a
 * {@link CommandConnection}. Keeps the promises of {@link RedisNodes} if the driver sends nothing
 * again.
 *
 * @param <E> a command as the client takes it
 */
public final class PipelinedNodes<E> implements RedisNodes {
  private static final Duration CLOSE = Duration.ofSeconds(1);

  /** Maximum number of rounds that a thread queues while it submits one. Takes about 1 ms. */
  private static final int MAX_QUEUED = 1_000;

  private final List<RedisNode<E>> nodes;
  private final List<String> addresses;
  private final Function<Command, E> encoder;
  private final Runnable afterClose;

  /** The latest life of each index: two to a node. */
  private final AtomicReferenceArray<CommandConnection<E>> connections;

  /** All lives that are not over, also those that were replaced. */
  private final Set<CommandConnection<E>> lives = ConcurrentHashMap.newKeySet();

  private final AtomicReferenceArray<@Nullable Subscription> subscriptions;

  /** Each is queued for all of its nodes before the next one, which an answer may bring. */
  private final Queue<EncodedRound<E>> submitted = new ConcurrentLinkedQueue<>();

  private final AtomicInteger unqueued = new AtomicInteger();

  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Connects nothing yet.
   *
   * @param nodes the nodes, in the order of their indexes
   * @param encoder makes of a command what the client takes, once for all nodes
   * @param afterClose closes what the driver has made for all nodes, when no connection is left
   */
  public PipelinedNodes(
      List<? extends RedisNode<E>> nodes, Function<Command, E> encoder, Runnable afterClose) {
    this.nodes = List.copyOf(nodes);
    this.addresses = nodes.stream().map(RedisNode::address).toList();
    this.encoder = encoder;
    this.afterClose = afterClose;
    this.subscriptions = new AtomicReferenceArray<>(nodes.size());
    this.connections = new AtomicReferenceArray<>(2 * nodes.size());
    for (int index = 0; index < connections.length(); index++) {
      connections.set(index, new CommandConnection<>(index, () -> {})); // never connected
    }
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return at(node).isTls();
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
        at(node).connect(connection);
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

  @Override
  public void subscribe(int node, Subscription subscription) {
    subscriptions.set(node, subscription);
    if (closed.get()) {
      subscription.close();
      subscription.onEnded();
      return;
    }
    try {
      nodes.get(node).subscribe(subscription);
    } catch (RuntimeException | Error e) {
      subscription.close(); // the manager tries again later
      subscription.onEnded();
    }
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return nodes.stream()
        .map(RedisNode::client)
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst();
  }

  /**
   * Closes after writing what was submitted before, if the nodes take it. Waits until the
   * connections are closed, for 1 s.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      DriverThreads.await(
          CLOSE,
          CompletableFuture.allOf(
              Stream.concat(
                      lives.stream().map(CommandConnection::close),
                      IntStream.range(0, nodes.size()).mapToObj(this::closeSubscription))
                  .toArray(CompletableFuture[]::new)));
    } finally { // whatever a client throws
      lives.forEach(CommandConnection::drop); // also one whose node reads nothing
      try {
        afterClose.run();
      } finally {
        IllegalStateException cause = new IllegalStateException("the manager was closed");
        lives.forEach(life -> life.abandon(cause));
      }
    }
  }

  private CompletableFuture<Void> closeSubscription(int node) {
    Subscription subscription = subscriptions.get(node);
    if (subscription == null) {
      return CompletableFuture.completedFuture(null);
    }
    subscription.close();
    return subscription.ended();
  }

  private RedisNode<E> at(int index) {
    int size = nodes.size();
    return index < size ? nodes.get(index) : nodes.get(index - size).second();
  }
}
