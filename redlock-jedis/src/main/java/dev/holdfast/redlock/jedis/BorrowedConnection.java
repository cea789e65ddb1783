package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import java.io.IOException;
import java.time.Duration;
import java.util.NoSuchElementException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * A connection of a pool, with our timeout as long as it is borrowed. Closing returns it to the
 * pool with its former timeout. If it is broken, the pool destroys it.
 */
record BorrowedConnection(Pool<Connection> pool, Connection connection, int timeoutOfTheirs)
    implements AutoCloseable {
  /** Waits for a free connection, and then lets it wait for a reply, for this long at most. */
  static BorrowedConnection of(Pool<Connection> pool, Duration limit) {
    Connection connection = borrow(pool, limit);
    BorrowedConnection borrowed =
        new BorrowedConnection(pool, connection, connection.getSoTimeout());
    try {
      if (borrowed.timeoutOfTheirs == 0) {
        throw new LockConfigurationException(
            "its client can wait for a reply forever (socketTimeoutMillis=0): set"
                + " socketTimeoutMillis above 0");
      }
      if (!connection.isConnected()) {
        // it would be connected again, without user, password and database
        connection.setBroken();
        throw new JedisConnectionException("the pool gave a connection that was closed");
      }
      connection.setSoTimeout(Messages.millis(limit));
      return borrowed;
    } catch (RuntimeException | Error e) {
      borrowed.close();
      throw e;
    }
  }

  private static Connection borrow(Pool<Connection> pool, Duration limit) {
    try {
      return pool.borrowObject(limit);
    } catch (NoSuchElementException e) {
      throw new JedisConnectionException(
          "its client's pool gave no connection within "
              + limit.toMillis()
              + " ms ("
              + e.getMessage()
              + "; maxTotal="
              + pool.getMaxTotal()
              + ")",
          e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("its client's pool gave no connection", e);
    }
  }

  @Override
  public void close() {
    try {
      if (connection.isBroken()) {
        connection.forceDisconnect();
        pool.returnBrokenResource(connection);
      } else {
        connection.setSoTimeout(timeoutOfTheirs);
        pool.returnResource(connection);
      }
    } catch (JedisException | IOException e) {
      // the pool, or the connection, is closed anyway
    }
  }
}
