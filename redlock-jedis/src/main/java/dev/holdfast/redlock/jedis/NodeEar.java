package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.RedisNodes;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisDataException;

/** A connection to one node that listens, and the thread that does. */
final class NodeEar implements RedisNodes.Ear {
  /**
   * What is said at most before it is answered: a write that waits for a node that hangs has no
   * time-out. With names of 1 KiB it is less than the smallest buffers of a connection hold.
   */
  private static final int MOST_UNANSWERED = 16;

  private final String always;
  private final RedisNodes.Heard heard;
  private final Runnable ended;
  private final Set<String> wanted = new HashSet<>();
  private final Set<String> said = new HashSet<>();
  private final Deque<String> toSay = new ArrayDeque<>();
  private @Nullable Connection connection;
  private boolean begun;
  private boolean over;
  private int unanswered;

  private final JedisPubSub listening =
      new JedisPubSub() {
        @Override
        public void onSubscribe(String channel, int count) {
          answered(channel);
        }

        @Override
        public void onUnsubscribe(String channel, int count) {
          answered(channel);
        }

        @Override
        public void onMessage(String channel, String message) {
          heard.message(channel, message);
        }
      };

  private NodeEar(String always, RedisNodes.Heard heard, Runnable ended) {
    this.always = always;
    this.heard = heard;
    this.ended = ended;
  }

  /**
   * Connects and listens, on a thread of its own.
   *
   * @param connecting gives a connection that has been made; blocks
   */
  static NodeEar open(
      Supplier<Connection> connecting, String channel, RedisNodes.Heard heard, Runnable ended) {
    NodeEar ear = new NodeEar(channel, heard, ended);
    Threads.daemon("listen", () -> ear.listen(connecting)).start();
    return ear;
  }

  @Override
  public synchronized void subscribe(String channel) {
    if (wanted.add(channel)) {
      say(channel);
    }
  }

  @Override
  public synchronized void unsubscribe(String channel) {
    if (wanted.remove(channel)) {
      say(channel);
    }
  }

  @Override
  public synchronized void close() {
    over = true;
    drop();
  }

  private void listen(Supplier<Connection> connecting) {
    boolean refused = false;
    try {
      Connection made = connecting.get();
      if (takes(made)) {
        listening.proceed(made, always);
      }
    } catch (JedisDataException e) {
      refused = String.valueOf(e.getMessage()).startsWith("NOPERM");
    } catch (RuntimeException e) {
      // whoever waits asks now and then; and is told of what to mend by the other connection
    }
    boolean unexpected;
    synchronized (this) {
      unexpected = !over && !refused;
      close();
    }
    if (unexpected) {
      ended.run();
    }
  }

  private synchronized boolean takes(Connection made) {
    connection = made;
    return !over;
  }

  private synchronized void answered(String channel) {
    if (over) {
      drop(); // Jedis has connected again: it was closed before it began to listen
    } else if (channel.equals(always)) {
      begun = true;
    } else {
      unanswered--;
    }
    sayMore();
  }

  private void say(String channel) {
    if (!over) {
      toSay.add(channel);
      sayMore();
    }
  }

  private void sayMore() {
    while (begun && unanswered < MOST_UNANSWERED && !toSay.isEmpty()) {
      String channel = toSay.remove();
      try {
        if (wanted.contains(channel) && said.add(channel)) {
          unanswered++;
          listening.subscribe(channel);
        } else if (!wanted.contains(channel) && said.remove(channel)) {
          unanswered++;
          listening.unsubscribe(channel);
        }
      } catch (RuntimeException e) {
        drop(); // which ends the thread that listens
      }
    }
  }

  /** Nothing is said after that: Jedis would connect again for it. */
  private void drop() {
    begun = false;
    toSay.clear();
    Connection made = connection;
    if (made != null) {
      try {
        made.forceDisconnect(); // others write what they have to say first
      } catch (IOException | RuntimeException e) {
        // it has ended
      }
    }
  }
}
