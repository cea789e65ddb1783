package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.Round;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The nodes as Lettuce reaches them. Rounds that are waiting at the same moment go out as one batch
 * for each node. They are written by one thread alone: Lettuce keeps the order of what two threads
 * write only if neither is the connection's own.
 */
final class LettuceNodes implements RedisNodes {
  private final List<NodeLink> links;
  private final List<String> addresses;
  private final Executor sender;
  private final Runnable afterClose;
  private final ReentrantLock lock = new ReentrantLock();
  private List<Outgoing> waiting = new ArrayList<>();

  /**
   * Connects nothing yet.
   *
   * @param sender one thread
   * @param afterClose closes what is ours
   */
  LettuceNodes(List<NodeLink> links, Executor sender, Runnable afterClose) {
    this.links = List.copyOf(links);
    this.addresses = links.stream().map(NodeLink::address).toList();
    this.sender = sender;
    this.afterClose = afterClose;
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    return links.get(node).connect(disconnected);
  }

  @Override
  public void disconnect(int node) {
    links.get(node).disconnect();
  }

  @Override
  public void submit(Round round) {
    Outgoing outgoing = new Outgoing(round);
    boolean first;
    lock.lock();
    try {
      first = waiting.isEmpty();
      waiting.add(outgoing);
    } finally {
      lock.unlock();
    }
    if (first) {
      try {
        sender.execute(this::send);
      } catch (RejectedExecutionException closed) {
        send(); // which fails, because no node is connected any more
      }
    }
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return links.stream()
        .map(NodeLink::client)
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst();
  }

  /** What was submitted before is still sent. */
  @Override
  public void close() {
    try {
      sender.execute(() -> links.forEach(NodeLink::close));
    } catch (RejectedExecutionException e) {
      return; // closed before
    }
    afterClose.run();
  }

  private void send() {
    List<Outgoing> batch;
    lock.lock();
    try {
      batch = waiting;
      waiting = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    for (NodeLink link : links) {
      link.send(batch);
    }
  }
}
