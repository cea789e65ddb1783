package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNode;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * A node that is reached through a pool of its user's, by a thread of its own. Its second
 * connection has a pool of one and another thread.
 */
final class PooledNode implements RedisNode<PooledNode.Question> {
  /** The most bytes of a character in UTF-8. */
  private static final int MAX_PER_CHAR = 3;

  private final UserPool given;
  private final Pool<Connection> pool;
  private final Duration limit;
  private final @Nullable PooledNode second;
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, DriverThreads.named("holdfast-jedis-node"));

  /**
   * A node as its user gave it.
   *
   * @param address for messages
   * @param pool its pool
   * @param client what the user knows it by
   */
  record UserPool(String address, Pool<Connection> pool, Object client) {}

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

  private PooledNode(
      UserPool given, Pool<Connection> pool, Duration limit, @Nullable PooledNode second) {
    this.given = given;
    this.pool = pool;
    this.limit = limit;
    this.second = second;
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Makes nodes that are not connected.
   *
   * @param limit for how long there may be no free connection, and a node may owe replies
   */
  static PipelinedNodes<Question> all(List<UserPool> given, Duration limit) {
    List<PooledNode> nodes =
        given.stream()
            .map(one -> new PooledNode(one, one.pool(), limit, beside(one, limit)))
            .toList();
    return new PipelinedNodes<>(nodes, Question::of, () -> nodes.forEach(PooledNode::shutdown));
  }

  /**
   * Makes the way to the second connection, which is made as its user's pool makes its own: a pool
   * of one has none to spare, and the commands of a transaction must share a connection.
   */
  private static PooledNode beside(UserPool given, Duration limit) {
    GenericObjectPoolConfig<Connection> one = new GenericObjectPoolConfig<>();
    one.setMaxTotal(1);
    one.setJmxEnabled(false);
    return new PooledNode(given, new Pool<>(one, given.pool().getFactory()), limit, null);
  }

  @Override
  public String address() {
    return given.address();
  }

  @Override
  public Object client() {
    return given.client();
  }

  @Override
  public RedisNode<Question> second() {
    return second == null ? this : second;
  }

  @Override
  public void connect(CommandConnection<Question> connection) {
    new PooledConnection(pool, second == null, limit, thread, connection).begin();
  }

  /** Subscribes on a connection beside the pool, which may have none to spare. */
  @Override
  public void subscribe(Subscription subscription) {
    JedisPubSubConnection.serve(subscription, this::made);
  }

  private Connection made() {
    try {
      return pool.getFactory().makeObject().getObject();
    } catch (Exception e) {
      throw new JedisConnectionException("no connection could be made", e);
    }
  }

  private void shutdown() {
    thread.shutdown();
    if (second != null) {
      second.shutdown();
    }
  }
}
