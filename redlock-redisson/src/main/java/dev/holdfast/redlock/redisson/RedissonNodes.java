package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.spi.CommandPipeline;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes as Redisson reaches them: over connections made by Redisson beside its pools. A pool
 * has no order among its connections, makes callers wait for a free one, and stands behind a layer
 * that sends commands again.
 */
final class RedissonNodes implements RedisNodes {
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private final List<Server> servers;
  private final Duration connectTimeout;
  private final Runnable afterClose;

  /** The last connection, or attempt at one, of each index; at first one that was never tried. */
  private final AtomicReferenceArray<NodeConnection> connections;

  /** The last connection that listens to each node, or attempt at one. */
  private final AtomicReferenceArray<@Nullable Subscription> subscriptions;

  /** A round is queued for all of its nodes before the next one, which one's answer may bring. */
  private final ReentrantLock queueing = new ReentrantLock();

  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Connects nothing yet.
   *
   * @param afterClose closes what is ours
   */
  RedissonNodes(List<Server> servers, Duration connectTimeout, Runnable afterClose) {
    this.servers = List.copyOf(servers);
    this.connectTimeout = connectTimeout;
    this.afterClose = afterClose;
    this.subscriptions = new AtomicReferenceArray<>(servers.size());
    this.connections =
        new AtomicReferenceArray<>(
            IntStream.range(0, 2 * servers.size())
                .mapToObj(index -> new NodeConnection(index, () -> {}))
                .toArray(NodeConnection[]::new));
  }

  @Override
  public List<String> addresses() {
    return servers.stream().map(Server::address).toList();
  }

  @Override
  public boolean isTls(int node) {
    return servers.get(node % servers.size()).tls();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    NodeConnection attempt = new NodeConnection(node, disconnected);
    connections.set(node, attempt);
    if (closed.get()) {
      attempt.drop();
    }
    return attempt.open(servers.get(node % servers.size()), connectTimeout);
  }

  @Override
  public void disconnect(int node) {
    connections.get(node).drop();
  }

  @Override
  public void submit(Round round) {
    EncodedRound outgoing = new EncodedRound(round);
    List<CommandPipeline<EncodedRound>> asked = new ArrayList<>(servers.size());
    queueing.lock();
    try {
      round.forEachNode(
          node -> {
            CommandPipeline<EncodedRound> commands = connections.get(node).commands();
            commands.add(outgoing);
            asked.add(commands);
          });
    } finally {
      queueing.unlock();
    }
    asked.forEach(CommandPipeline::flush);
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    subscriptions.set(node, subscription);
    RedissonPubSubConnection.serve(subscription, servers.get(node), connectTimeout);
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return servers.stream().map(Server::yours).filter(type::isInstance).map(type::cast).findFirst();
  }

  /**
   * Closes after sending what was submitted before, if the nodes accept it. Waits until the
   * connections are closed, for 1 s.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      DriverThreads.await(
          CLOSE,
          CompletableFuture.allOf(
              Stream.concat(
                      IntStream.range(0, connections.length())
                          .mapToObj(index -> connections.get(index).drop()),
                      IntStream.range(0, subscriptions.length()).mapToObj(this::closeSubscription))
                  .toArray(CompletableFuture[]::new)));
      afterClose.run();
    }
  }

  /** One that is begun while the client shuts down would stay. */
  private CompletableFuture<Void> closeSubscription(int node) {
    Subscription subscription = subscriptions.get(node);
    if (subscription == null) {
      return CompletableFuture.completedFuture(null);
    }
    subscription.close();
    return subscription.ended();
  }
}
