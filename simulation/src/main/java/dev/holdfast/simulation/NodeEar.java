package dev.holdfast.simulation;

import dev.holdfast.redlock.RedisNodes;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One connection on which a client listens to a node. What comes while it is broken is lost. */
final class NodeEar implements RedisNodes.Ear {
  private final World world;
  private final Host host;
  private final Node node;
  private final RedisNodes.Heard heard;
  private final Runnable ended;
  private final Connection connection;
  private final Set<String> channels = new LinkedHashSet<>();
  private boolean over;

  NodeEar(World world, Host host, Node node, int index, RedisNodes.Heard heard, Runnable ended) {
    this.world = world;
    this.host = host;
    this.node = node;
    this.heard = heard;
    this.ended = ended;
    this.connection = new Connection(world, host, node, index, this::end);
  }

  void open() {
    connection.made().whenComplete((made, failure) -> begin(failure));
    node.connecting(connection);
    connection.open();
  }

  private void begin(@Nullable Throwable failure) {
    if (failure == null) {
      channels.forEach(this::hear);
    } else {
      end();
    }
  }

  private void end() {
    if (!over) {
      over = true;
      ended.run();
    }
  }

  Connection connection() {
    return connection;
  }

  Host host() {
    return host;
  }

  boolean isOver() {
    return over || connection.isEnded();
  }

  @Override
  public void subscribe(String channel) {
    if (channels.add(channel) && connection.made().isDone()) {
      hear(channel);
    }
  }

  private void hear(String channel) {
    connection.say(() -> node.subscribe(channel, this));
  }

  @Override
  public void unsubscribe(String channel) {
    if (channels.remove(channel) && connection.made().isDone()) {
      connection.say(() -> node.unsubscribe(channel, this));
    }
  }

  /** The node has published something. */
  void tell(String channel, String message, Host by) {
    connection.tell(
        () -> {
          if (channels.contains(channel)) {
            world.note(host.id(), node.id(), "is told", channel.hashCode(), channel::toString);
            world.judge.listening.told(host, node, Node.keyOf(channel), message, by);
            heard.message(channel, message);
          }
        });
  }

  @Override
  public void close() {
    over = true;
    connection.end("closed", false);
  }
}
