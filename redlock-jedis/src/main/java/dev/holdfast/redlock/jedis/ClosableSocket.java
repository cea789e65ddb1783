package dev.holdfast.redlock.jedis;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * The socket of one connection. Closing it also ends a login to a node that hangs, for which Jedis
 * gives no handle. Safe for use by many threads.
 */
final class ClosableSocket {
  private volatile @Nullable Socket socket;
  private volatile boolean closed;

  /**
   * Connects and logs in. Blocks.
   *
   * @param timeout for how long each step may take
   */
  Connection connect(Address address, Duration timeout) {
    JedisClientConfig config = address.config(timeout);
    JedisSocketFactory sockets = new DefaultJedisSocketFactory(address.server(), config);
    return new Connection(() -> open(sockets), config);
  }

  private Socket open(JedisSocketFactory sockets) {
    if (closed) {
      throw new JedisConnectionException("closed"); // Jedis connects again before a command
    }
    Socket made = sockets.createSocket();
    socket = made;
    if (closed) {
      close();
    }
    return made;
  }

  /** Returns the socket, once it has one. */
  Socket get() {
    return Objects.requireNonNull(socket, "not connected");
  }

  /** Closes the socket that it has, or will have. Does not wait for the node. */
  void close() {
    closed = true;
    Socket now = socket;
    if (now != null) {
      try {
        now.close();
      } catch (IOException e) {
        // it is closed anyway
      }
    }
  }
}
