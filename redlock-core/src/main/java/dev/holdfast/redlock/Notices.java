package dev.holdfast.redlock;

import dev.holdfast.core.LockPrimitive.Released;
import dev.holdfast.core.LockPrimitive.Watch;
import dev.holdfast.core.Scheduler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Releases by others, as nodes publish them. One is news once a quorum of nodes has told it: before
 * that an attempt would be in vain. Whoever waits for nothing listens to nothing. A node is
 * listened to while it is connected, so that what is known of a node that hangs or is away holds
 * here, too.
 */
final class Notices {
  /** Nothing is published on it. */
  private static final String NO_KEY = "holdfast:released";

  private static final String CHANNEL_PREFIX = NO_KEY + ":";

  /** How many releases a node may be behind the others and still count; 5 KB for each name. */
  private static final int MOST_RELEASES = 32;

  private final RedisNodes nodes;
  private final IntPredicate isUp;
  private final Scheduler scheduler;
  private final String own;
  private final int size;
  private final Map<String, Topic> topics = new ConcurrentHashMap<>();
  private final @Nullable Ear[] ears;
  private long tooSoon;
  private boolean closed;
  private volatile long mute;

  /** A connection that listens, and what tells it from the one before. */
  private record Ear(Object mark, RedisNodes.Ear connection) {}

  /**
   * Listens to nothing yet.
   *
   * @param isUp whether a node is connected for all else
   * @param own what this manager publishes, so that it knows its own releases
   */
  Notices(RedisNodes nodes, IntPredicate isUp, Scheduler scheduler, String own) {
    this.nodes = nodes;
    this.isUp = isUp;
    this.scheduler = scheduler;
    this.own = own;
    this.size = nodes.addresses().size();
    this.ears = new Ear[size];
  }

  static String channelOf(String key) {
    return CHANNEL_PREFIX + key;
  }

  /** What the release of a key by this manager publishes; nothing where too few may. */
  News ofRelease(String key, String token) {
    boolean inVain = size - Long.bitCount(mute) < Tally.quorumOf(size);
    return inVain
        ? none()
        : new News(
            List.of(own + token.substring(token.lastIndexOf(':'))), topics.get(channelOf(key)));
  }

  /** Of a release that nobody is told. */
  News none() {
    return new News(List.of(), null);
  }

  /** Listens for releases of a key; if somebody does already, in the place of that one. */
  synchronized Watch watch(String key, Runnable released) {
    String channel = channelOf(key);
    Topic topic = new Topic(channel, released);
    boolean known = topics.put(channel, topic) != null;
    boolean heard = false;
    try {
      for (int node = 0; node < size; node++) {
        Ear ear = ears[node];
        if (ear == null) {
          connect(node);
        } else if (!known) {
          ear.connection().subscribe(channel);
        }
      }
      heard = true;
    } finally {
      if (!heard) {
        topics.remove(channel, topic); // so that the next one asks all nodes
      }
    }
    return topic;
  }

  /** A node was connected, or is so no more. */
  synchronized void changed(int node) {
    Ear ear = ears[node];
    if (isUp.test(node)) {
      connect(node);
    } else if (ear != null) {
      deafAt(node);
      ear.connection().close();
    }
  }

  synchronized void close() {
    closed = true;
    topics.clear();
    for (Ear ear : ears) {
      if (ear != null) {
        ear.connection().close();
      }
    }
  }

  private synchronized void connect(int node) {
    boolean wanted = !closed && !topics.isEmpty() && ears[node] == null;
    if (wanted && (tooSoon & 1L << node) == 0 && isUp.test(node)) {
      Object mark = new Object();
      RedisNodes.Ear ear =
          nodes.listen(node, NO_KEY, (c, m) -> heard(node, c, m), () -> ended(node, mark));
      ears[node] = new Ear(mark, ear);
      topics.keySet().forEach(ear::subscribe);
    }
  }

  private synchronized void ended(int node, Object mark) {
    Ear ear = ears[node];
    if (ear != null && ear.mark() == mark) {
      deafAt(node);
      tooSoon |= 1L << node;
      scheduler.schedule(Members.RECONNECT_NANOS, () -> again(node));
    }
  }

  private synchronized void again(int node) {
    tooSoon &= ~(1L << node);
    connect(node);
  }

  private void deafAt(int node) {
    ears[node] = null;
    topics.values().forEach(topic -> topic.deafAt(node));
  }

  private void heard(int node, String channel, String message) {
    Topic topic = topics.get(channel);
    if (topic == null) {
      return;
    }
    if (message.startsWith(own)) {
      topic.hearsAt(node);
    } else if (topic.isNews(node, message)) {
      topic.released.run();
    }
  }

  private synchronized void forget(Topic topic) {
    if (topics.remove(topic.channel, topic)) {
      for (Ear ear : ears) {
        if (ear != null) {
          ear.connection().unsubscribe(topic.channel);
        }
      }
    }
  }

  private synchronized void muteAt(int node) {
    mute |= 1L << node;
  }

  /** What a release tells those who wait, and what nodes say of them. */
  final class News {
    private final List<String> message;
    private final @Nullable Topic own;
    private final AtomicInteger others;

    private News(List<String> message, @Nullable Topic own) {
      this.message = message;
      this.own = own;
      this.others = new AtomicInteger(message.isEmpty() ? Released.UNKNOWN : 0);
    }

    /** The last argument of the script, if any. */
    List<String> message() {
      return message;
    }

    /**
     * Reads what a node replied. Where too few let it publish it is not tried again and again,
     * because servers log each refusal.
     */
    void answered(int node, @Nullable Object reply) {
      if (reply instanceof Long code && code == Scripts.MINE_AND_MUTE) {
        muteAt(node);
        others.accumulateAndGet(Released.UNKNOWN, Math::max);
      } else if (reply instanceof Long code && code > Scripts.MINE_AND_MUTE) {
        int heard = (int) (code - Scripts.MINE_AND_MUTE);
        others.accumulateAndGet(othersAmong(heard, node), Math::max);
      }
    }

    /** Who listens is one of them, surely so where its own last message was heard. */
    private int othersAmong(int heard, int node) {
      if (own == null) {
        return heard;
      }
      return own.isHeardAt(node) ? heard - 1 : Math.max(Released.UNKNOWN, heard - 1);
    }

    /** How many others may be waiting: 0 only if those who answered have told that none does. */
    int others() {
      return others.get();
    }
  }

  /** One key that somebody waits for. */
  private final class Topic implements Watch {
    private final String channel;
    private final Runnable released;

    /** Which nodes have told each of the last releases that not all have told. */
    private final Map<String, Long> told =
        new LinkedHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST_RELEASES;
          }
        };

    /** The nodes where a message of one's own was heard, so that one is among the listeners. */
    private long hears;

    Topic(String channel, Runnable released) {
      this.channel = channel;
      this.released = released;
    }

    /** Whether it is a quorum with this node, for the first time. */
    synchronized boolean isNews(int node, String release) {
      long before = told.getOrDefault(release, 0L);
      long now = before | 1L << node;
      if (Long.bitCount(now) == size) {
        told.remove(release);
      } else {
        told.put(release, now);
      }
      return now != before && Long.bitCount(now) == Tally.quorumOf(size);
    }

    synchronized void hearsAt(int node) {
      hears |= 1L << node;
    }

    synchronized void deafAt(int node) {
      hears &= ~(1L << node);
    }

    synchronized boolean isHeardAt(int node) {
      return (hears & 1L << node) != 0;
    }

    @Override
    public void close() {
      forget(this);
    }
  }
}
