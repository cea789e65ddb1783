package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The driver's nodes without the algorithm above them. */
final class Links {
  private Links() {}

  /** The ways to make a driver; every promise of the port holds for each. */
  enum Kind {
    OWN_CLIENT,
    YOUR_CLIENT,
    YOUR_CLIENT_THAT_RECONNECTS
  }

  /** A driver with its user's client, where it has one. */
  static final class Driver implements AutoCloseable {
    final LettuceNodes nodes;
    private final RedisClient client;

    private Driver(LettuceNodes nodes, RedisClient client) {
      this.nodes = nodes;
      this.client = client;
    }

    /** Connects one node; the counter counts how often its connection has ended. */
    AtomicInteger connect(int node) throws Exception {
      AtomicInteger ends = new AtomicInteger();
      Links.connect(nodes, node, ends::incrementAndGet);
      return ends;
    }

    @Override
    public void close() {
      nodes.close();
      client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }

  static void connect(RedisNodes nodes, int node, Runnable disconnected) throws Exception {
    CompletableFuture<Void> connected = nodes.connect(node, disconnected).toCompletableFuture();
    connected.get(10, TimeUnit.SECONDS);
  }

  static Driver over(Kind kind, TestNodes servers) {
    return over(kind, servers.all().stream().map(TestNode::uri).toArray(String[]::new));
  }

  static Driver over(Kind kind, String... uris) {
    RedisClient client = RedisClient.create();
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(kind == Kind.YOUR_CLIENT_THAT_RECONNECTS)
            .disconnectedBehavior(
                kind == Kind.YOUR_CLIENT_THAT_RECONNECTS
                    ? ClientOptions.DisconnectedBehavior.REJECT_COMMANDS
                    : ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            .build());
    LettuceRedlock.Builder builder =
        LettuceRedlock.builder()
            .options(RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10)));
    for (String uri : uris) {
      RedisURI address = RedisURI.create(uri);
      if (kind == Kind.OWN_CLIENT) {
        builder.node(address);
      } else {
        builder.client(client, address);
      }
    }
    return new Driver(builder.connections(), client);
  }
}
