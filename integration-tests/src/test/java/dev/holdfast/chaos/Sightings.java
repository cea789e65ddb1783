package dev.holdfast.chaos;

import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the locks on one node again and again, past the proxy, and writes down what is there.
 */
final class Sightings implements Runnable {
  private static final Duration LIMIT = Duration.ofMillis(500);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final TestNode node;
  private final Journal journal;
  private final Map<String, Entry.Seen> present = new HashMap<>();
  private volatile boolean ending;

  Sightings(TestNode node, Journal journal) {
    this.node = node;
    this.journal = journal;
  }

  /** Looks once more, and ends. */
  void end() {
    ending = true;
  }

  @Override
  public void run() {
    while (!ending) {
      try (RawRedis connection = RawRedis.connect(node.host(), node.port(), LIMIT)) {
        while (!ending) {
          look(connection);
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      } catch (NodeException | RedisErrorReply e) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    present.values().forEach(journal::append);
  }

  private void look(RawRedis connection) {
    String[] command = new String[Settings.NAMES.size() + 1];
    command[0] = "MGET";
    for (int i = 1; i < command.length; i++) {
      command[i] = Settings.NAMES.get(i - 1);
    }
    long at = System.nanoTime(); // it was there then or later: never too long
    List<?> values = (List<?>) connection.call(command);
    for (int i = 0; values != null && i < values.size(); i++) {
      note(Settings.NAMES.get(i), (String) values.get(i), at);
    }
  }

  private void note(String name, @Nullable String token, long at) {
    Entry.Seen before = present.get(name);
    if (before != null && before.token().equals(token)) {
      present.put(name, new Entry.Seen(before.node(), name, before.token(), before.from(), at));
      return;
    }
    if (before != null) {
      journal.append(before);
      present.remove(name);
    }
    if (token != null) {
      present.put(name, new Entry.Seen(node.address(), name, token, at, at));
    }
  }
}
