package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * The nodes as Lettuce reaches them. Rounds that are waiting at the same moment go out as one batch
 * for each node. They are written by one thread alone: Lettuce keeps the order of what two threads
 * write only if neither is the connection's own.
 */
final class LettuceNodes implements RedisNodes {
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private final List<LettuceNode> links;
  private final List<String> addresses;
  private final Executor sender;
  private final Runnable afterClose;
  private final Queue<EncodedRound> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sending = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean over;

  /**
   * Connects nothing yet.
   *
   * @param links the first connection to each node, then the second to each
   * @param sender one thread
   * @param afterClose closes what is ours
   */
  LettuceNodes(List<LettuceNode> links, Executor sender, Runnable afterClose) {
    this.links = List.copyOf(links);
    this.addresses = links.stream().limit(links.size() / 2).map(LettuceNode::address).toList();
    this.sender = sender;
    this.afterClose = afterClose;
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return links.get(node).isTls();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    return links.get(node).connect(disconnected, this::inTurn);
  }

  @Override
  public void disconnect(int node) {
    links.get(node).disconnect();
  }

  @Override
  public void submit(Round round) {
    EncodedRound outgoing = new EncodedRound(round);
    waiting.add(outgoing);
    if (sending.compareAndSet(false, true)) {
      inTurn(this::send);
    }
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    links.get(node).subscribe(subscription);
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return links.stream()
        .map(LettuceNode::client)
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst();
  }

  /**
   * Closes after sending what was submitted before. Waits until the connections are closed, for 1
   * s.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      DriverThreads.await(
          CLOSE,
          CompletableFuture.supplyAsync(this::closeLinks, sender).thenCompose(Function.identity()));
      closeLinks(); // before the sender is no more, should it be late
      afterClose.run();
      over = true;
      send(); // an event loop that is being shut down may take a task and drop it
    }
  }

  private CompletableFuture<Void> closeLinks() {
    return CompletableFuture.allOf(
        links.stream().map(LettuceNode::close).toArray(CompletableFuture[]::new));
  }

  /** After what was submitted before; at once if the sender is no more, as then no node is. */
  private void inTurn(Runnable task) {
    if (over) {
      task.run();
      return;
    }
    try {
      sender.execute(task);
    } catch (RejectedExecutionException e) {
      task.run();
    }
  }

  private void send() {
    sending.set(false); // first: what is added from now on is sent by another turn
    List<EncodedRound> batch = new ArrayList<>();
    for (EncodedRound next; (next = waiting.poll()) != null; ) {
      batch.add(next);
    }
    for (LettuceNode link : links) {
      link.send(batch);
    }
  }
}
