package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One connection on which a client listens to a node. Messages that come while it is broken are
 * lost.
 */
final class SimulatedSubscription implements PubSubConnection {
  private final World world;
  private final Host host;
  private final Node node;
  private final Subscription subscription;
  private final Connection connection;
  private final Set<String> channels = new HashSet<>();

  SimulatedSubscription(World world, Host host, Node node, int index, Subscription subscription) {
    this.world = world;
    this.host = host;
    this.node = node;
    this.subscription = subscription;
    this.connection = new Connection(world, host, node, index, subscription::onEnded);
  }

  void open() {
    connection.made().whenComplete((made, failure) -> begin(failure));
    node.connecting(connection);
    connection.open();
  }

  private void begin(@Nullable Throwable failure) {
    if (failure == null) {
      subscription.onConnected(this);
    } else {
      subscription.onEnded();
    }
  }

  Connection connection() {
    return connection;
  }

  Host host() {
    return host;
  }

  boolean isOver() {
    return connection.isEnded();
  }

  /** Takes each command as answered at once, because the node carries them out in order. */
  @Override
  public void subscribe(List<String> names) {
    channels.addAll(names);
    names.stream()
        .filter(Node::isChannelOfKey)
        .forEach(name -> connection.say(() -> node.subscribe(name, this)));
    names.forEach(subscription::onAnswered);
  }

  @Override
  public void unsubscribe(List<String> names) {
    names.forEach(channels::remove);
    names.forEach(name -> connection.say(() -> node.unsubscribe(name, this)));
    names.forEach(subscription::onAnswered);
  }

  /** Passes on a message that the node has published. */
  void publish(String channel, String message, Host by) {
    connection.deliver(
        () -> {
          if (channels.contains(channel)) {
            world.note(host.id(), node.id(), "is notified", channel.hashCode(), channel::toString);
            world.judge.listening.onNotified(host, node, Node.keyOf(channel), message, by);
            subscription.onMessage(channel, message);
          }
        });
  }

  @Override
  public void close() {
    connection.end("closed", false);
  }
}
