package dev.holdfast.redlock.internal.notify;

import dev.holdfast.core.LockPrimitive.Released;
import dev.holdfast.core.LockPrimitive.Watch;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.nodes.NodeConnector;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Subscription;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Release notifications, published by the nodes and received from them. A waiter is notified of a
 * release once a quorum of nodes has published it, because an earlier attempt would be refused.
 *
 * <p>Subscribes only to keys that have a waiter, and only on nodes whose command connection is up,
 * so that node failures are detected in one place. While a connection is replaced a release can be
 * missed, so each waiter is notified once when its key is subscribed to again.
 */
public final class ReleaseNotifications {
  /** The channel that keeps a connection subscribed. Nothing is published on it. */
  private static final String NO_KEY = "holdfast:released";

  private static final String CHANNEL_PREFIX = NO_KEY + ":";

  /**
   * Maximum number of releases by which a node may be behind the others and still count. They take
   * 5 KB for each key.
   */
  private static final int MAX_RELEASES = 32;

  private final RedisNodes nodes;
  private final IntPredicate isUp;
  private final Scheduler scheduler;
  private final String ownPrefix;
  private final int size;
  private final Map<String, ReleaseSubscription> subscriptions = new ConcurrentHashMap<>();
  private final @Nullable Subscription[] connections;
  private NodeSet pausing = NodeSet.NONE;
  private boolean closed;
  private volatile NodeSet withoutPublish = NodeSet.NONE;

  /**
   * Subscribes to nothing yet.
   *
   * @param isUp whether the command connection to a node is up
   * @param ownPrefix the beginning of the messages of this manager, by which it knows its own
   */
  public ReleaseNotifications(
      RedisNodes nodes, IntPredicate isUp, Scheduler scheduler, String ownPrefix) {
    this.nodes = nodes;
    this.isUp = isUp;
    this.scheduler = scheduler;
    this.ownPrefix = ownPrefix;
    this.size = nodes.addresses().size();
    this.connections = new Subscription[size];
  }

  static String channelOf(String key) {
    return CHANNEL_PREFIX + key;
  }

  /**
   * Returns the notification of a release by this manager. It is empty if fewer nodes than a quorum
   * let this manager publish.
   */
  public ReleaseNotification ofRelease(String key, String token) {
    boolean isFutile = size - withoutPublish.size() < Tally.quorumOf(size);
    return isFutile
        ? none()
        : new ReleaseNotification(
            List.of(ownPrefix + token.substring(token.lastIndexOf(':'))),
            subscriptions.get(channelOf(key)));
  }

  /** Returns the notification of a release that no waiter is notified of. */
  public ReleaseNotification none() {
    return new ReleaseNotification(List.of(), null);
  }

  /** Subscribes to releases of a key, in the place of an earlier subscription to it. */
  public synchronized Watch watch(String key, Runnable released) {
    String channel = channelOf(key);
    ReleaseSubscription subscription = new ReleaseSubscription(channel, released);
    boolean isSubscribed = subscriptions.put(channel, subscription) != null;
    boolean complete = false;
    try {
      for (int node = 0; node < size; node++) {
        Subscription connected = connections[node];
        if (connected == null && canConnect(node)) {
          connect(node);
        } else if (connected == null) {
          subscription.onDisconnected(node);
        } else if (!isSubscribed) {
          connected.subscribe(channel);
        }
      }
      complete = true;
    } finally {
      if (!complete) {
        subscriptions.remove(channel, subscription); // so that the next one asks all nodes
      }
    }
    return subscription;
  }

  /** Follows a command connection that has gone up or down. */
  public synchronized void onConnectionChanged(int node) {
    Subscription connected = connections[node];
    if (isUp.test(node)) {
      connect(node);
    } else if (connected != null) {
      forget(node);
      connected.close();
    }
  }

  public synchronized void close() {
    closed = true;
    subscriptions.clear();
    for (Subscription connected : connections) {
      if (connected != null) {
        connected.close();
      }
    }
  }

  private synchronized void connect(int node) {
    boolean wanted = !closed && !subscriptions.isEmpty() && connections[node] == null;
    if (wanted && canConnect(node)) {
      Subscription connection = new Subscription(NO_KEY, new FromNode(node));
      subscriptions.keySet().forEach(connection::subscribe);
      nodes.subscribe(node, connection);
      connections[node] = connection;
      if (connection.ended().isDone()) { // before it could be known
        onEnded(node, connection);
      }
    }
  }

  private boolean canConnect(int node) {
    return !pausing.contains(node) && isUp.test(node);
  }

  private synchronized void onEnded(int node, Subscription ended) {
    if (connections[node] == ended) {
      forget(node);
      pausing = pausing.with(node);
      scheduler.schedule(NodeConnector.RECONNECT_NANOS, () -> reconnect(node));
    }
  }

  private synchronized void reconnect(int node) {
    pausing = pausing.without(node);
    connect(node);
  }

  private void forget(int node) {
    connections[node] = null;
    subscriptions.values().forEach(subscription -> subscription.onDisconnected(node));
  }

  /** Receives what one node reports. */
  private final class FromNode implements Subscription.Listener {
    private final int node;

    FromNode(int node) {
      this.node = node;
    }

    @Override
    public void onMessage(String channel, String message) {
      ReleaseSubscription subscription = subscriptions.get(channel);
      if (subscription == null) {
        return;
      }
      if (message.startsWith(ownPrefix)) {
        subscription.onOwnMessage(node);
      } else if (subscription.completesQuorum(node, message)) {
        subscription.released.run();
      }
    }

    @Override
    public void onSubscribed(String channel) {
      ReleaseSubscription subscription = subscriptions.get(channel);
      if (subscription != null && subscription.endsGap(node)) {
        scheduler.schedule(0, subscription.released); // later: a driver may hold locks meanwhile
      }
    }

    @Override
    public void onEnded(Subscription ended) {
      ReleaseNotifications.this.onEnded(node, ended);
    }
  }

  private synchronized void unsubscribe(ReleaseSubscription subscription) {
    if (subscriptions.remove(subscription.channel, subscription)) {
      for (Subscription connected : connections) {
        if (connected != null) {
          connected.unsubscribe(subscription.channel);
        }
      }
    }
  }

  private synchronized void onPublishRefused(int node) {
    withoutPublish = withoutPublish.with(node);
  }

  /** The message of one release, and the number of its receivers by the replies of the nodes. */
  public final class ReleaseNotification {
    private final List<String> message;
    private final @Nullable ReleaseSubscription own;
    private final AtomicInteger others;

    private ReleaseNotification(List<String> message, @Nullable ReleaseSubscription own) {
      this.message = message;
      this.own = own;
      this.others = new AtomicInteger(message.isEmpty() ? Released.UNKNOWN : 0);
    }

    /** Returns the last argument of the script, if it has one. */
    public List<String> message() {
      return message;
    }

    /**
     * Reads the reply of a node to the release. Once too few nodes let this manager publish, it no
     * longer tries, because servers log each refusal.
     */
    public void onReply(int node, @Nullable Object reply) {
      int receivers = Scripts.receivers(reply);
      if (Scripts.isPublishRefused(reply)) {
        onPublishRefused(node);
        others.accumulateAndGet(Released.UNKNOWN, Math::max);
      } else if (receivers > 0) {
        others.accumulateAndGet(othersAmong(receivers, node), Math::max);
      }
    }

    /**
     * Leaves out the subscription of this manager, which is certain if its last message arrived.
     */
    private int othersAmong(int receivers, int node) {
      if (own == null) {
        return receivers;
      }
      return own.isConfirmedAt(node) ? receivers - 1 : Math.max(Released.UNKNOWN, receivers - 1);
    }

    /**
     * Returns how many other managers may wait. It is 0 only if the nodes that answered have said
     * that no other manager does.
     */
    public int others() {
      return others.get();
    }
  }

  /** The subscription to one key that has a waiter. */
  private final class ReleaseSubscription implements Watch {
    private final String channel;
    private final Runnable released;

    /** The nodes that published each of the last releases which not all nodes have published. */
    private final Map<String, NodeSet> notified =
        new LinkedHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, NodeSet> eldest) {
            return size() > MAX_RELEASES;
          }
        };

    /** The nodes that delivered a message of this manager, which is thus among their receivers. */
    private NodeSet confirmed = NodeSet.NONE;

    /** The nodes that were not connected, and on which the key has not been subscribed to since. */
    private NodeSet gaps = NodeSet.NONE;

    ReleaseSubscription(String channel, Runnable released) {
      this.channel = channel;
      this.released = released;
    }

    /** Notes a message. Returns true once, when a quorum of nodes has published the release. */
    synchronized boolean completesQuorum(int node, String release) {
      NodeSet before = notified.getOrDefault(release, NodeSet.NONE);
      NodeSet now = before.with(node);
      if (now.size() == size) {
        notified.remove(release);
      } else {
        notified.put(release, now);
      }
      return !now.equals(before) && now.size() == Tally.quorumOf(size);
    }

    synchronized void onOwnMessage(int node) {
      confirmed = confirmed.with(node);
    }

    synchronized void onDisconnected(int node) {
      confirmed = confirmed.without(node);
      gaps = gaps.with(node);
    }

    /** Returns whether a release by this node may have been missed until now. */
    synchronized boolean endsGap(int node) {
      boolean ends = gaps.contains(node);
      gaps = gaps.without(node);
      return ends;
    }

    synchronized boolean isConfirmedAt(int node) {
      return confirmed.contains(node);
    }

    @Override
    public void close() {
      unsubscribe(this);
    }
  }
}
