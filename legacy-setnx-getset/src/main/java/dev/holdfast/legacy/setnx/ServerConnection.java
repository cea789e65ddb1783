package dev.holdfast.legacy.setnx;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/** One connection to the server: a command goes out, its reply is waited for. For one thread. */
final class ServerConnection implements AutoCloseable {
  private final Connection connection;
  private final Clock clock;
  private long usedAt;

  private ServerConnection(Connection connection, Clock clock) {
    this.connection = connection;
    this.clock = clock;
    this.usedAt = clock.nanos();
  }

  /** Connects, logs in, and waits for later replies as long as the patience lasts. */
  static ServerConnection connected(Address address, Settings settings, Duration patience) {
    Connection connection =
        new Connection(address.server(), address.config(settings.connectTimeout()));
    connection.setSoTimeout(address.config(patience).getSocketTimeoutMillis());
    return new ServerConnection(connection, settings.clock());
  }

  /** Sets a key if it does not exist, and returns whether it was set. */
  boolean setnx(String key, String value) {
    return number(Command.SETNX, key, value) == 1;
  }

  @Nullable String get(String key) {
    return text(Command.GET, key);
  }

  /** Returns what was there before. */
  @Nullable String getset(String key, String value) {
    return text(Command.GETSET, key, value);
  }

  /** Deletes a key, and returns whether it existed. */
  boolean del(String key) {
    return number(Command.DEL, key) == 1;
  }

  String info() {
    return String.valueOf(text(Command.INFO));
  }

  /** Returns the time of the server's clock, in microseconds. */
  long time() {
    if (ask(Command.TIME) instanceof List<?> parts
        && parts.size() == 2
        && parts.get(0) instanceof byte[] seconds
        && parts.get(1) instanceof byte[] micros) {
      return Long.parseLong(new String(seconds, UTF_8)) * 1_000_000
          + Long.parseLong(new String(micros, UTF_8));
    }
    throw unexpected(Command.TIME);
  }

  /** Finds out whether it still is connected. That a user may not say PING is an answer, too. */
  void ping() {
    try {
      ask(Command.PING);
    } catch (JedisDataException refused) {
      if (!String.valueOf(refused.getMessage()).startsWith("NOPERM")) {
        throw refused;
      }
    }
  }

  /** Returns the time since the connection was last used. */
  long idleNanos() {
    return clock.nanos() - usedAt;
  }

  @Override
  public void close() {
    try {
      connection.forceDisconnect();
    } catch (IOException | RuntimeException e) {
      // it is closed anyway
    }
  }

  private long number(Command command, String... words) {
    if (ask(command, words) instanceof Long number) {
      return number;
    }
    throw unexpected(command);
  }

  private @Nullable String text(Command command, String... words) {
    Object reply = ask(command, words);
    if (reply == null) {
      return null;
    }
    if (reply instanceof byte[] bytes) {
      return new String(bytes, UTF_8);
    }
    throw unexpected(command);
  }

  private @Nullable Object ask(Command command, String... words) {
    CommandArguments arguments = new CommandArguments(command);
    for (String word : words) {
      arguments.add(word);
    }
    Object reply = connection.executeCommand(arguments);
    usedAt = clock.nanos();
    return reply;
  }

  private static NodeException unexpected(Command command) {
    return NodeException.passing("an unexpected reply to " + command);
  }
}
