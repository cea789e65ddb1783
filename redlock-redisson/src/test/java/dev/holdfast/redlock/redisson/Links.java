package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RedissonClient;
import org.redisson.config.Protocol;

/** The driver's nodes without the algorithm above them. */
final class Links {
  /** Patient, so that a busy machine is not taken for an outage. */
  static final Duration NODE_TIMEOUT = Duration.ofMillis(200);

  private Links() {}

  /** The ways to make a driver; every promise of the port holds for each. */
  enum Kind {
    OWN_CLIENT,
    /** With Redisson's defaults, among them four retries of what was not answered. */
    YOUR_CLIENT,
    YOUR_CLIENT_WITH_RESP3
  }

  /** A driver with its user's clients, where it has any. */
  static final class Driver implements AutoCloseable {
    final RedissonNodes nodes;
    private final List<RedissonClient> clients;

    private Driver(RedissonNodes nodes, List<RedissonClient> clients) {
      this.nodes = nodes;
      this.clients = clients;
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
      clients.forEach(YourClients::shutdown);
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
    List<RedissonClient> clients = new ArrayList<>();
    return new Driver(builder(kind, clients, uris).connections(), clients);
  }

  /** Adds the user's clients, if there are any, to those that are to be shut down. */
  static RedissonRedlock.Builder builder(Kind kind, List<RedissonClient> clients, String... uris) {
    RedissonRedlock.Builder builder =
        RedissonRedlock.builder()
            .options(
                RedlockOptions.defaults()
                    .nodeTimeout(NODE_TIMEOUT)
                    .connectTimeout(Duration.ofSeconds(10)));
    for (String uri : uris) {
      if (kind == Kind.OWN_CLIENT) {
        builder.node(uri);
      } else {
        Protocol protocol = kind == Kind.YOUR_CLIENT_WITH_RESP3 ? Protocol.RESP3 : Protocol.RESP2;
        RedissonClient client = YourClients.lazy(uri, config -> config.setProtocol(protocol));
        clients.add(client);
        builder.client(client);
      }
    }
    return builder;
  }
}
