package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * Nodes that are reached through pools of their user's: one thread for each, and one for each
 * second connection that is asked for.
 */
final class PooledNodes implements RedisNodes {
  private static final long CLOSE_SECONDS = 1;

  private final List<UserPool> given;
  private final List<String> addresses;
  private final List<Object> clients;
  private final List<PooledNode> nodes = new ArrayList<>();

  /** So that what follows an answer finds the round before it in every node's line. */
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * A node as its user gave it.
   *
   * @param address for messages
   * @param pool its pool
   * @param client what the user knows it by
   */
  record UserPool(String address, Pool<Connection> pool, Object client) {}

  /**
   * Connects nothing yet.
   *
   * @param limit for how long there may be no free connection, and a node may owe replies
   */
  PooledNodes(List<UserPool> given, Duration limit) {
    this.given = List.copyOf(given);
    this.addresses = given.stream().map(UserPool::address).toList();
    this.clients = given.stream().map(UserPool::client).toList();
    given.forEach(one -> nodes.add(new PooledNode(nodes.size(), one.pool(), limit, () -> {})));
    for (UserPool one : given) {
      Pool<Connection> beside = beside(one.pool());
      nodes.add(new PooledNode(nodes.size(), beside, limit, beside::clear));
    }
  }

  /**
   * For the second connection to a node, made as its user's pool makes its own: a pool of one has
   * none to spare, and what is said on it hangs together.
   */
  private static Pool<Connection> beside(Pool<Connection> pool) {
    GenericObjectPoolConfig<Connection> one = new GenericObjectPoolConfig<>();
    one.setMaxTotal(1);
    one.setJmxEnabled(false);
    return new Pool<>(one, pool.getFactory());
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    return nodes.get(node).connect(disconnected);
  }

  @Override
  public void disconnect(int node) {
    nodes.get(node).disconnect();
  }

  @Override
  public void submit(Round round) {
    PooledNode.Question question = PooledNode.Question.of(round);
    lock.lock();
    try {
      round.forEachNode(node -> nodes.get(node).enqueue(question));
    } finally {
      lock.unlock();
    }
    round.forEachNode(node -> nodes.get(node).serveSoon());
  }

  /** Subscribes on a connection beside the pool, which may have none to spare. */
  @Override
  public void subscribe(int node, Subscription subscription) {
    JedisPubSubConnection.serve(subscription, () -> made(given.get(node).pool()));
  }

  private static Connection made(Pool<Connection> pool) {
    try {
      return pool.getFactory().makeObject().getObject();
    } catch (Exception e) {
      throw new JedisConnectionException("no connection could be made", e);
    }
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return clients.stream().filter(type::isInstance).map(type::cast).findFirst();
  }

  /**
   * Closes after sending what was submitted before. Waits until the threads have ended, for 1 s.
   */
  @Override
  public void close() {
    List<PooledNode> busy = nodes.stream().filter(PooledNode::close).toList();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
    try {
      for (PooledNode node : busy) {
        if (!node.isClosedWithin(end - System.nanoTime())) {
          return; // within its own limit, then
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
