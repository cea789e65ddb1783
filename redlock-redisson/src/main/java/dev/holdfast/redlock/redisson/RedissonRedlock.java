package dev.holdfast.redlock.redisson;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.redisson.api.RedissonClient;

/**
 * Opens a lock manager over N independent Redis masters with Redisson, with your own clients or
 * with connections of its own.
 *
 * <pre>{@code
 * LockManager locks =
 *     RedissonRedlock.builder()
 *         .client(redissonOfMaster1)
 *         .client(redissonOfMaster2)
 *         .client(redissonOfMaster3)
 *         .open();
 * }</pre>
 *
 * <p>A manager keeps one connection to each node, whatever the number of threads that use it, and a
 * second one where its user may run no scripts. For the nodes that were given without a client it
 * runs one thread of input and output and two timers, daemons whose names begin with {@code
 * holdfast-redisson-}. With clients of yours it uses their threads, and none of its own.
 */
public final class RedissonRedlock {
  private RedissonRedlock() {}

  /**
   * Starts with no node.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects the nodes. */
  public static final class Builder implements RedlockBuilder<Builder> {
    /** The nodes, each made by what those of our own share. */
    private final List<Function<ManagedClients, RedissonNode>> nodes = new ArrayList<>();

    private RedlockOptions options = RedlockOptions.defaults();

    private Builder() {}

    /**
     * Adds a node that is reached by a connection of the manager's own.
     *
     * @param uri {@code redis://[user[:password]@]host[:port][/db]}, or {@code rediss:} for TLS. As
     *     in URLs, user and password are percent-encoded where they hold a special character. TLS
     *     trusts what the JVM trusts. For a private CA alone, give a client
     * @return this
     * @throws LockConfigurationException if it is no such URI. It never shows the password
     */
    public Builder node(String uri) {
      return node(RedisNodeUri.only(LockUrl.parse("redlock:" + uri, Map.of())));
    }

    Builder node(RedisNodeUri node) {
      nodes.add(own -> own.node(node, options.connectTimeout()));
      return this;
    }

    /**
     * Adds a node that is reached by a client of yours: at its address, with its credentials, TLS
     * and database, on its threads. The manager has Redisson make a connection beside the client's
     * pools, which lasts from its making to its first break, and reconnects by itself. So nothing
     * of the client's that sends a command again or holds it back applies to it, and {@code
     * retryAttempts}, {@code timeout} and the sizes of its pools may be what suits you. Its codec
     * and its name mapper do not apply either. The client is never shut down: do so after the
     * manager.
     *
     * @param client from {@code Redisson.create}, set up with {@code useSingleServer()}
     * @return this
     * @throws LockConfigurationException if it is set up with several servers, or is something that
     *     stands before a client
     */
    public Builder client(RedissonClient client) {
      RedissonNode.of(Objects.requireNonNull(client, "client"), options.connectTimeout());
      nodes.add(own -> RedissonNode.of(client, options.connectTimeout()));
      return this;
    }

    @Override
    public Builder options(RedlockOptions options) {
      this.options = Objects.requireNonNull(options, "options");
      return this;
    }

    @Override
    public LockManager open() {
      return Redlock.open(connections(OpenSettings.none()), options);
    }

    /** Returns the nodes without the algorithm, and connects none. */
    RedisNodes connections(OpenSettings tls) {
      ManagedClients own = new ManagedClients(tls);
      return new PipelinedNodes<>(
          nodes.stream().map(node -> node.apply(own)), RedissonConnection.Encoded::new, own::close);
    }
  }
}
