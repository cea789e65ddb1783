package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockBuilder;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

/**
 * Opens a lock manager over N independent Redis masters with Jedis: either with connections of its
 * own ({@code node}), or through your clients' pools ({@code client}).
 *
 * <pre>{@code
 * LockManager locks =
 *     JedisRedlock.builder()
 *         .client(first, new HostAndPort("h1", 6379))
 *         .client(second, new HostAndPort("h2", 6379))
 *         .client(third, new HostAndPort("h3", 6379))
 *         .open();
 * }</pre>
 *
 * <p>Connections of its own are one for each node, whatever the number of threads that use the
 * manager. Callers do the input and output themselves, and one thread does what is left. With your
 * clients there is one thread for each node, which borrows one connection at a time and holds it
 * only while replies are to come, so that a pool of one is enough. That takes longer. Where the
 * user may run no scripts there is one connection more to each node. With your clients it is made
 * as the pool makes its own, outside of the pool, with a thread of its own. All threads are daemons
 * whose names begin with {@code holdfast-}.
 */
public final class JedisRedlock {
  private JedisRedlock() {}

  /**
   * Starts with no node.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects the nodes: all by {@code node}, or all by {@code client}. */
  public static final class Builder implements RedlockBuilder<Builder> {
    private final List<Address> nodes = new ArrayList<>();

    /** The nodes, each made with the limit of its waits. */
    private final List<Function<Duration, PooledNode>> clients = new ArrayList<>();

    private RedlockOptions options = RedlockOptions.defaults();

    private Builder() {}

    /**
     * Adds a node that is reached by a connection of the manager's own.
     *
     * @param uri {@code redis://[user[:password]@]host[:port][/db]}, or {@code rediss://} for TLS
     *     with the JVM's trust store
     * @return this
     * @throws LockConfigurationException if it is no such URI
     */
    public Builder node(URI uri) {
      RedisNodeUri node = RedisNodeUri.only(LockUrl.parse("redlock:" + uri, Map.of()));
      return node(Address.of(node, OpenSettings.none()));
    }

    Builder node(Address node) {
      nodes.add(node);
      return this;
    }

    /**
     * Adds a node that is reached by a connection of the manager's own.
     *
     * @param server host and port
     * @param config user, password, database, TLS and all else, except for the timeouts, which are
     *     those of the options
     * @return this
     */
    public Builder node(HostAndPort server, JedisClientConfig config) {
      return node(
          new Address(
              Objects.requireNonNull(server, "server"), Objects.requireNonNull(config, "config")));
    }

    /**
     * Adds a node that is reached through the pool of a client of yours, which the manager never
     * closes: close it after the manager. Connections are taken from the pool itself, so that the
     * client's own retries do not apply, and for a bounded time, whatever its {@code maxWait}.
     *
     * @param client its pool may be of any size, and waits when it is exhausted ({@code
     *     blockWhenExhausted}), or {@link #open} fails. Its {@code socketTimeoutMillis} must not be
     *     0, or the node is refused when it is connected. How long connecting may take is the
     *     client's {@code connectionTimeoutMillis}
     * @param server host and port, for messages
     * @return this
     * @throws LockConfigurationException if it has no pool
     */
    public Builder client(RedisClient client, HostAndPort server) {
      Pool<Connection> pool;
      try {
        pool = client.getPool();
      } catch (ClassCastException e) {
        throw new LockConfigurationException(
            "the client for node "
                + Address.text(server)
                + " has a connectionProvider of its own, so no pool: build it without, or give"
                + " its HostAndPort and JedisClientConfig to node(…)",
            e);
      }
      return add(client, pool, server);
    }

    /**
     * Adds a node that is reached through a pool of yours, for clients other than {@link
     * RedisClient}, such as the {@code JedisPooled} of Jedis 7, whose {@code getPool()} gives it.
     *
     * @param pool as with {@link #client(RedisClient, HostAndPort)}
     * @param server host and port, for messages
     * @return this
     */
    public Builder client(Pool<Connection> pool, HostAndPort server) {
      return add(pool, Objects.requireNonNull(pool, "pool"), server);
    }

    @Override
    public Builder options(RedlockOptions options) {
      this.options = Objects.requireNonNull(options, "options");
      return this;
    }

    @Override
    public LockManager open() {
      return Redlock.open(connections(), options);
    }

    /** Returns the nodes without the algorithm, and connects none. */
    RedisNodes connections() {
      if (nodes.isEmpty()) {
        Duration limit = options.silenceLimit();
        List<PooledNode> pooled = clients.stream().map(node -> node.apply(limit)).toList();
        return new PipelinedNodes<>(
            pooled.stream(), PooledNode.Question::of, () -> pooled.forEach(PooledNode::shutdown));
      }
      if (!clients.isEmpty()) {
        throw new LockConfigurationException(
            "some nodes are given by client and some are not: give a client for each, or for none");
      }
      return DirectNodes.of(nodes, options.connectTimeout());
    }

    private Builder add(Object client, Pool<Connection> pool, HostAndPort server) {
      clients.add(limit -> PooledNode.of(Address.text(server), client, pool, limit));
      return this;
    }
  }
}
