package dev.holdfast.redlock.spi;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private final List<RedisNode<E>> nodes;
  private final List<String> addresses;
  private final Runnable afterClose;

  /** All lives that are not over, also those that were replaced. */
  private final Set<CommandConnection<E>> lives = ConcurrentHashMap.newKeySet();

  private final AtomicReferenceArray<@Nullable Subscription> subscriptions;

  private final AtomicBoolean closed = new AtomicBoolean();

  private final PipelinedConnections<E> first;
  private final PipelinedConnections<E> second;

  /**
   * Connects nothing yet.
   *
   * @param nodes makes the nodes, in the order of their indexes. If one cannot be made, this throws
   *     the same, after {@code afterClose}
   * @param encoder makes of a command what the client takes, once for all nodes
   * @param afterClose closes what the driver has made for all nodes, when no connection is left
   */
  public PipelinedNodes(
      Stream<? extends RedisNode<E>> nodes, Function<Command, E> encoder, Runnable afterClose) {
    this.afterClose = afterClose;
    try {
      this.nodes = nodes.<RedisNode<E>>map(Objects::requireNonNull).toList();
      this.addresses = this.nodes.stream().map(RedisNode::address).toList();
      List<RedisNode<E>> seconds = this.nodes.stream().map(RedisNode::second).toList();
      this.first = new PipelinedConnections<>(this.nodes, encoder, lives, closed);
      this.second = new PipelinedConnections<>(seconds, encoder, lives, closed);
      this.subscriptions = new AtomicReferenceArray<>(this.nodes.size());
    } catch (RuntimeException | Error e) {
      try {
        afterClose.run();
      } catch (RuntimeException | Error alsoFailed) {
        if (alsoFailed != e) { // a failure cannot suppress itself
          e.addSuppressed(alsoFailed);
        }
      }
      throw e;
    }
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return nodes.get(node).isTls();
  }

  @Override
  public RedisConnections first() {
    return first;
  }

  @Override
  public RedisConnections second() {
    return second;
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
}
