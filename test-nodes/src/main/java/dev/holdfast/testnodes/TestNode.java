package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One real redis-server, and the faults that can be done to it.
 *
 * <p>Safe for use by several threads. The calls freeze, thaw, kill and restart of one node happen
 * one after the other. They take milliseconds and are bounded by about ten seconds (of containers:
 * a second, and a minute for each step that Docker takes), and an interrupt does not end them (its
 * flag is kept). Each call that talks to the server uses a connection of its own and gives up after
 * two seconds.
 */
public final class TestNode {
  /** The state of the server's process, or of its container. */
  public enum State {
    /** It runs. */
    UP,
    /**
     * It is stopped (SIGSTOP, or the freezer of its container): connections are accepted by the
     * system, and nothing is answered.
     */
    FROZEN,
    /** There is no process. */
    DOWN
  }

  static final Duration START_LIMIT = Duration.ofSeconds(10);
  private static final Duration PORT_LIMIT = Duration.ofSeconds(1);
  private static final Duration SIGNAL_LIMIT = Duration.ofSeconds(5);
  private static final int KEYS_PER_COMMAND = 1_000;

  /** The key of Redlock's guard record, in each database. */
  private static final String GUARD = "holdfast:guard";

  private static final Pattern CALLS =
      Pattern.compile("^cmdstat_([^:]+):calls=(\\d+)", Pattern.MULTILINE);

  private final int index;
  private final Server server;
  private final String version;
  private final Lock lock = new ReentrantLock();
  private boolean closed;

  TestNode(int index, Server server, String version) {
    this.index = index;
    this.server = server;
    this.version = version;
  }

  /** Returns the node's place among its {@link TestNodes}, from 0. */
  public int index() {
    return index;
  }

  /**
   * Returns the host: {@code 127.0.0.1}, or the host of the container engine if that is elsewhere.
   */
  public String host() {
    return server.host();
  }

  /** Returns the port, which is the same for the node's whole life, restarts included. */
  public int port() {
    return server.port();
  }

  /** Returns the URI, for example {@code redis://127.0.0.1:17001}. */
  public String uri() {
    return "redis://" + address();
  }

  /** Returns the address, for example {@code 127.0.0.1:17001}. */
  public String address() {
    return server.address();
  }

  /** Returns the server's own version, for example {@code 6.2.11}. */
  public String version() {
    return version;
  }

  /**
   * Returns the process id, which changes with each restart. For a container this is the id outside
   * of it.
   *
   * @throws NodeException if the node is down
   */
  public long pid() {
    return server.pid().orElseThrow(() -> isDown("has no pid"));
  }

  /** Returns the state, which is read from the process itself. */
  public State state() {
    return server.state();
  }

  /**
   * Stops the process (SIGSTOP) and returns when it is stopped. Nothing happens if it is already.
   *
   * @throws NodeException if the node is down
   */
  public void freeze() {
    turn(State.FROZEN, server::freeze);
  }

  /**
   * Lets a frozen process go on (SIGCONT). Nothing happens if it is not frozen.
   *
   * @throws NodeException if the node is down
   */
  public void thaw() {
    turn(State.UP, server::thaw);
  }

  /** Kills the process (SIGKILL), also a frozen one, and returns when it is gone. */
  public void kill() {
    locked(this::killNow);
  }

  /** Kills the process if there is one, and starts it on the same port with no data. */
  public void restart() {
    locked(
        () -> {
          requireOpen();
          killNow();
          server.deleteData();
          startNow();
        });
  }

  /**
   * Kills the process if there is one, and starts it on the same port with what it has written to
   * its append-only file or snapshot.
   *
   * @throws NodeException if it has written neither. A node that runs goes on running
   */
  public void restartWithData() {
    locked(
        () -> {
          requireOpen();
          if (!server.hasData()) {
            throw new NodeException(
                this
                    + " has no data on its disk to restart with: start the nodes with"
                    + " config(\"appendonly yes\"), or send the node SAVE first.");
          }
          killNow();
          startNow();
        });
  }

  /**
   * Initialises the node's data, as {@code holdfast nodes init} does, so that Redlock counts its
   * votes at once. Nodes that were just started are initialised. After a restart, or when all keys
   * were deleted, a node keeps out of votes until the longest ttl is over, unless this is called.
   *
   * @param database the number of the database, which is 0 for a URI without one
   * @throws RedisErrorReply if the server refuses
   * @throws NodeException if it does not answer
   */
  public void vouch(int database) {
    try (RawRedis connection = RawRedis.connect(host(), port())) {
      String history = field(connection, "replication", "master_replid");
      connection.call("SELECT", Integer.toString(database));
      connection.call("DEL", GUARD);
      connection.call("HSET", GUARD, "id", history + " " + database, "since", "0");
    }
  }

  /**
   * Writes keys named by the prefix and a number from 0, with that number as the value.
   *
   * @param count how many
   * @throws RedisErrorReply if the server refuses
   * @throws NodeException if it does not answer
   */
  public void fill(String keyPrefix, int count) {
    try (RawRedis connection = RawRedis.connect(host(), port())) {
      for (int from = 0; from < count; from += KEYS_PER_COMMAND) {
        int keys = Math.min(KEYS_PER_COMMAND, count - from);
        String[] command = new String[1 + 2 * keys];
        command[0] = "MSET";
        for (int i = 0; i < keys; i++) {
          command[1 + 2 * i] = keyPrefix + (from + i);
          command[2 + 2 * i] = Integer.toString(from + i);
        }
        connection.call(command);
      }
    }
  }

  /**
   * Sends one command on a new connection.
   *
   * @return a Long, a String, null, or a List of these, as {@link RawRedis#call} says
   * @throws RedisErrorReply if the server replied an error
   * @throws NodeException if it did not answer within two seconds
   */
  public @Nullable Object command(String... args) {
    try (RawRedis connection = RawRedis.connect(host(), port())) {
      return connection.call(args);
    }
  }

  /**
   * Returns how often each command was called since the start or the last reset, by its name in
   * lower case ({@code set}, {@code evalsha}, and in Redis 7 also {@code config|get}). Commands in
   * scripts count too. This class sends commands that count as well: {@code ping} and {@code info}
   * at the start, and {@code info} for each call of this method.
   *
   * @throws NodeException if the node does not answer
   */
  public Map<String, Long> commandCounts() {
    Map<String, Long> counts = new HashMap<>();
    Matcher calls = CALLS.matcher(String.valueOf(command("INFO", "commandstats")));
    while (calls.find()) {
      counts.put(calls.group(1).toLowerCase(Locale.ROOT), Long.valueOf(calls.group(2)));
    }
    return Map.copyOf(counts);
  }

  /**
   * Sets all counts to zero (CONFIG RESETSTAT, which then counts as one call of itself).
   *
   * @throws NodeException if the node does not answer
   */
  public void resetCommandCounts() {
    command("CONFIG", "RESETSTAT");
  }

  /** Returns for example {@code node 2 (127.0.0.1:17001)}. */
  @Override
  public String toString() {
    return "node " + index + " (" + address() + ")";
  }

  /** Kills it for good: no restart comes after this. */
  void sendFinalKill() {
    locked(
        () -> {
          closed = true;
          server.sendFinalKill();
        });
  }

  void awaitEnd() {
    server.awaitEnd();
  }

  private static String field(RawRedis connection, String section, String name) {
    return String.valueOf(connection.call("INFO", section))
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .findFirst()
        .orElseThrow()
        .substring(name.length() + 1)
        .strip();
  }

  private void killNow() {
    server.sendKill();
    server.awaitGone();
  }

  private void requireOpen() {
    if (closed || !server.isPrepared()) {
      throw new NodeException(this + " cannot be restarted: its nodes have been closed.");
    }
  }

  private void startNow() {
    long giveUp = System.nanoTime() + PORT_LIMIT.toNanos();
    do {
      server.launch();
      if (server.awaitReady(START_LIMIT)) {
        return;
      }
    } while (System.nanoTime() - giveUp < 0);
    throw new NodeException(
        this
            + " cannot be restarted: another process listens on its port. Stop that process, or"
            + " start new nodes.");
  }

  private void turn(State wanted, Runnable action) {
    locked(
        () -> {
          State now = state();
          if (now == State.DOWN) {
            throw isDown("cannot be " + wanted);
          }
          if (now != wanted) {
            action.run();
            if (!Waiting.until(SIGNAL_LIMIT, () -> state() == wanted)) {
              throw new NodeException(this + " should be " + wanted + " and is " + state());
            }
          }
        });
  }

  private NodeException isDown(String therefore) {
    return new NodeException(this + " " + therefore + ": it is down. restart() starts it.");
  }

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }
}
