package dev.holdfast.redlock.lettuce;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockBuilder;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Opens a lock manager over N independent Redis masters with Lettuce, with your own clients or with
 * one of its own.
 *
 * <pre>{@code
 * LockManager locks =
 *     LettuceRedlock.builder()
 *         .node(RedisURI.create("redis://h1"))
 *         .node(RedisURI.create("redis://h2"))
 *         .node(RedisURI.create("redis://h3"))
 *         .open();
 * }</pre>
 *
 * <p>A manager keeps one connection to each node, whatever the number of threads that use it, and a
 * second one where its user may run no scripts. For the nodes that were given without a client it
 * runs one thread of input and output and two timers. With clients of yours it uses their threads,
 * and one of its own that sends. All of its threads are daemons whose names begin with {@code
 * holdfast-}.
 */
public final class LettuceRedlock {
  private LettuceRedlock() {}

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
    /** The nodes, each made with the manager's own client. */
    private final List<Function<ManagedClient, LettuceNode>> nodes = new ArrayList<>();

    private RedlockOptions options = RedlockOptions.defaults();

    private Builder() {}

    /**
     * Adds a node that is reached by a client of the manager's own, which all such nodes share and
     * which is closed with the manager.
     *
     * @param uri host and port, or a socket. User, password, database, TLS and client name count,
     *     and the timeout does not: {@link RedlockOptions#connectTimeout} holds
     * @return this
     * @throws LockConfigurationException if it names sentinels
     */
    public Builder node(RedisURI uri) {
      RedisURI master = master(uri);
      nodes.add(own -> own.node(own, master));
      return this;
    }

    /**
     * Adds a node that is reached by a client of yours. The manager opens a connection of its own
     * on it, and never closes the client: shut it down after the manager. One client may serve
     * several nodes.
     *
     * @param client must not be able to send a command again after a reconnect: {@code
     *     autoReconnect(false)} or {@code disconnectedBehavior(REJECT_COMMANDS)} in its {@link
     *     ClientOptions} when {@link #open} is called, and left so. The manager reconnects by
     *     itself
     * @param uri as with {@link #node}
     * @return this
     * @throws LockConfigurationException if it names sentinels
     */
    public Builder client(RedisClient client, RedisURI uri) {
      RedisURI master = master(uri);
      Objects.requireNonNull(client, "client");
      nodes.add(
          own -> {
            requireNoReplay(client.getOptions(), master);
            return own.node(client, master);
          });
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
      ManagedClient own = ManagedClient.start(options.connectTimeout(), tls);
      return new PipelinedNodes<>(
          nodes.stream().map(node -> node.apply(own)), Command::encoded, own::close);
    }

    /** Copies the URI, because we set its timeout. */
    private static RedisURI master(RedisURI uri) {
      if (!uri.getSentinels().isEmpty() || (uri.getHost() == null && uri.getSocket() == null)) {
        throw new LockConfigurationException(
            "a node's RedisURI names sentinels or no host: give the address of each master itself");
      }
      return RedisURI.builder(uri).build();
    }

    /**
     * Refuses a client that sends commands again. When a connection breaks, Lettuce keeps
     * unanswered commands for its reconnect, unless it does not reconnect or rejects commands until
     * then. The replay filter does not help, because commands in flight bypass it.
     */
    private static void requireNoReplay(ClientOptions options, RedisURI uri) {
      if (options.isAutoReconnect()
          && options.getDisconnectedBehavior()
              != ClientOptions.DisconnectedBehavior.REJECT_COMMANDS) {
        throw new LockConfigurationException(
            "the client for node "
                + LettuceNode.address(uri)
                + " can send a command again after a reconnect (ClientOptions autoReconnect=true,"
                + " disconnectedBehavior="
                + options.getDisconnectedBehavior()
                + "): set autoReconnect(false) or disconnectedBehavior(REJECT_COMMANDS)");
      }
    }
  }
}
