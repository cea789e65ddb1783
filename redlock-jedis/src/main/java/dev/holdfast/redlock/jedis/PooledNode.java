package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNode;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * A node that is reached through a pool of its user's, by a thread of its own.
 *
 * @param address for messages
 * @param client the client of the user
 * @param limit how long there may be no free connection, and how long replies may be pending
 * @param thread does the input and output
 * @param beside the way to the second connection, with a pool of one and another thread, or null in
 *     that node itself
 */
record PooledNode(
    String address,
    Object client,
    Pool<Connection> pool,
    Duration limit,
    ScheduledThreadPoolExecutor thread,
    @Nullable PooledNode beside)
    implements RedisNode<PooledNode.Question> {
  /** The most bytes of a character in UTF-8. */
  private static final int MAX_PER_CHAR = 3;

  /**
   * A command as Jedis takes it.
   *
   * @param bytes how long it is at most
   */
  record Question(CommandArguments command, int bytes) {
    static Question of(Command command) {
      int chars = command.words().stream().mapToInt(String::length).sum();
      return new Question(Messages.arguments(command), MAX_PER_CHAR * chars);
    }
  }

  /**
   * Makes a node that is not connected. Its second connection is made as its user's pool makes its
   * own: a pool of one has none to spare, and the commands of a transaction must share a
   * connection.
   *
   * @throws LockConfigurationException if the pool does not wait: whenever all its connections are
   *     borrowed, the node would look down
   */
  static PooledNode of(String address, Object client, Pool<Connection> pool, Duration limit) {
    if (!pool.getBlockWhenExhausted()) {
      throw new LockConfigurationException(
          "the pool of the client for node "
              + address
              + " does not wait for a connection (blockWhenExhausted=false): set"
              + " blockWhenExhausted to true; the manager waits for a bounded time");
    }
    GenericObjectPoolConfig<Connection> one = new GenericObjectPoolConfig<>();
    one.setMaxTotal(1);
    one.setJmxEnabled(false);
    Pool<Connection> ours = new Pool<>(one, pool.getFactory());
    PooledNode second = new PooledNode(address, client, ours, limit, newThread(), null);
    return new PooledNode(address, client, pool, limit, newThread(), second);
  }

  private static ScheduledThreadPoolExecutor newThread() {
    ScheduledThreadPoolExecutor thread =
        new ScheduledThreadPoolExecutor(1, DriverThreads.named("holdfast-jedis-node"));
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return thread;
  }

  @Override
  public RedisNode<Question> second() {
    return beside == null ? this : beside;
  }

  @Override
  public void connect(CommandConnection<Question> connection) {
    new PooledConnection(this, connection).begin();
  }

  /** Subscribes on a connection beside the pool, which may have none to spare. */
  @Override
  public void subscribe(Subscription subscription) {
    JedisPubSubConnection.serve(subscription, this::made, () -> {});
  }

  private Connection made() {
    try {
      return pool.getFactory().makeObject().getObject();
    } catch (Exception e) {
      throw new JedisConnectionException("no connection could be made", e);
    }
  }

  void shutdown() {
    thread.shutdown();
    if (beside != null) {
      beside.shutdown();
    }
  }
}
