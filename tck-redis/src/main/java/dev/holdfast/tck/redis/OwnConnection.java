package dev.holdfast.tck.redis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redis.ServerInfo;
import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.RawRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kit's own connection to a server, by another way than managers have. It is made when it is
 * needed, and again when it has ended. Safe for use by several threads.
 */
final class OwnConnection implements AutoCloseable {
  /** The client name by which the kit's own connections differ from those of managers. */
  static final String NAME = "holdfast-tck";

  private final RedisNodeUri uri;
  private @Nullable RawRedis connection;

  /** Connects nothing yet. */
  OwnConnection(RedisNodeUri uri) {
    this.uri = uri;
  }

  /**
   * Sends a command that may be sent twice.
   *
   * @return as {@link RawRedis#call} says
   */
  synchronized @Nullable Object call(String... words) {
    RawRedis present = connection;
    if (present != null) {
      try {
        return present.call(words);
      } catch (NodeException ended) {
        close();
      }
    }
    return connected().call(words);
  }

  long number(String... words) {
    if (call(words) instanceof Long number) {
      return number;
    }
    throw new IllegalStateException(words[0] + " of " + uri + " gave no number");
  }

  String text(String... words) {
    return String.valueOf(call(words));
  }

  List<String> texts(String... words) {
    List<String> texts = new ArrayList<>();
    if (call(words) instanceof List<?> list) {
      list.forEach(element -> texts.add(String.valueOf(element)));
    }
    return texts;
  }

  /** Returns the fields of one section of {@code INFO}. */
  Map<String, String> info(String section) {
    return ServerInfo.in(text("INFO", section)).fields();
  }

  /** Ends it. A later call connects again. */
  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  @Override
  public String toString() {
    return uri.toString();
  }

  private RawRedis connected() {
    RawRedis made = RawRedis.connect(uri.host(), uri.port());
    try {
      if (uri.password() != null) {
        made.call("AUTH", NodeUris.user(uri), uri.password());
      }
      if (uri.database() != 0) {
        made.call("SELECT", Integer.toString(uri.database()));
      }
      made.call("CLIENT", "SETNAME", NAME);
    } catch (RuntimeException e) {
      made.close();
      throw e;
    }
    connection = made;
    return made;
  }
}
