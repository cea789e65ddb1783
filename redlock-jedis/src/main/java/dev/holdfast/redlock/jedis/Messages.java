package dev.holdfast.redlock.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Between the words of the port and those of Jedis. */
final class Messages {
  /** The bytes of most replies to {@code SET}. Each would else be two objects more. */
  private static final byte[] OK = {'O', 'K'};

  private Messages() {}

  static CommandArguments arguments(Command command) {
    List<String> words = command.words();
    byte[] verb = words.get(0).getBytes(UTF_8);
    CommandArguments arguments = new CommandArguments(() -> verb);
    words.subList(1, words.size()).forEach(arguments::add);
    return arguments;
  }

  /** Makes of what Jedis reads what {@link dev.holdfast.redlock.spi.Round#reply} takes. */
  static @Nullable Object reply(@Nullable Object read) {
    if (read instanceof byte[] bytes) {
      return Arrays.equals(bytes, OK) ? "OK" : new String(bytes, UTF_8);
    }
    if (read instanceof List<?> parts) {
      List<@Nullable Object> array = new ArrayList<>(parts.size());
      parts.forEach(part -> array.add(reply(part)));
      return array;
    }
    return read;
  }

  /** Finds out whether a node answers. That a user may not say PING is an answer, too. */
  static void greet(Connection connection) {
    try {
      if (!connection.ping()) {
        throw new JedisConnectionException("it answers something else than PONG");
      }
    } catch (JedisDataException e) {
      if (!String.valueOf(e.getMessage()).startsWith("NOPERM")) {
        throw e;
      }
    } catch (RuntimeException | Error e) {
      connection.setBroken(); // the reply may still be to come
      throw e;
    }
  }

  /**
   * Returns milliseconds as Jedis and sockets take them: at least 1, since 0 would mean no limit.
   */
  static int millis(Duration limit) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, limit.toMillis()));
  }

  static JedisConnectionException notConnected() {
    return new JedisConnectionException("not connected");
  }

  /** Jedis suppresses why no address of a host could be connected. */
  static Throwable reason(Throwable failure) {
    Throwable[] suppressed = failure.getSuppressed();
    return failure.getCause() == null && suppressed.length > 0
        ? new JedisConnectionException(String.valueOf(failure.getMessage()), suppressed[0])
        : failure;
  }
}
