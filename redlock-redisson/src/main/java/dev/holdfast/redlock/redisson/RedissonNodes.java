package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.Round;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The nodes as Redisson reaches them: over one connection each, made by Redisson beside its pools.
 * A pool has no order among its connections, makes callers wait for a free one, and stands behind a
 * layer that sends commands again.
 */
final class RedissonNodes implements RedisNodes {
  private static final long CLOSE_SECONDS = 1;

  private final List<NodeLink> links;
  private final List<String> addresses;
  private final Runnable afterClose;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Connects nothing yet.
   *
   * @param afterClose closes what is ours
   */
  RedissonNodes(List<Server> servers, Runnable afterClose) {
    this.links = new ArrayList<>();
    servers.forEach(server -> links.add(new NodeLink(links.size(), server)));
    this.addresses = servers.stream().map(Server::address).toList();
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
    round.forEachNode(node -> links.get(node).send(outgoing));
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return links.stream()
        .flatMap(link -> link.server().yours().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst();
  }

  /** What was submitted before is still sent. Waits until the connections are closed, for 1 s. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Waiting.atMost(
          CLOSE_SECONDS,
          CompletableFuture.allOf(
              links.stream().map(NodeLink::close).toArray(CompletableFuture[]::new)));
      afterClose.run();
    }
  }
}
