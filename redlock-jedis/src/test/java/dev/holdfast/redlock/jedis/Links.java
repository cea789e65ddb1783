package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

/** The driver's nodes without the algorithm above them. */
final class Links {
  private Links() {}

  /** The ways to make a driver; every promise of the port holds for each. */
  enum Kind {
    OWN,
    YOUR_CLIENT,
    YOUR_POOL_OF_ONE
  }

  /** A driver with its user's clients, where it has some. */
  static final class Driver implements AutoCloseable {
    final RedisNodes nodes;
    private final List<Pool<Connection>> yours;

    private Driver(RedisNodes nodes, List<Pool<Connection>> yours) {
      this.nodes = nodes;
      this.yours = yours;
    }

    /** Connects one node; the counter counts how often its connection has ended. */
    AtomicInteger connect(int node) throws Exception {
      AtomicInteger ends = new AtomicInteger();
      Links.connect(nodes, node, ends::incrementAndGet);
      return ends;
    }

    /** The index of the second connection to a node. */
    int secondTo(int node) {
      return nodes.addresses().size() + node;
    }

    /** Connections that we have of pools that are not ours. */
    int borrowed() {
      return yours.stream().mapToInt(Pool::getNumActive).sum();
    }

    @Override
    public void close() {
      nodes.close();
      yours.forEach(Pool::close);
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
    List<Pool<Connection>> yours = new ArrayList<>();
    JedisRedlock.Builder builder =
        JedisRedlock.builder()
            .options(RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10)));
    for (String text : uris) {
      URI uri = URI.create(text);
      HostAndPort server = new HostAndPort(uri.getHost(), uri.getPort());
      switch (kind) {
        case OWN -> builder.node(uri);
        case YOUR_CLIENT -> {
          RedisClient client = RedisClient.create(server);
          yours.add(client.getPool());
          builder.client(client, server);
        }
        case YOUR_POOL_OF_ONE -> {
          ConnectionPoolConfig one = new ConnectionPoolConfig();
          one.setMaxTotal(1);
          ConnectionPool pool =
              new ConnectionPool(server, DefaultJedisClientConfig.builder().build(), one);
          yours.add(pool);
          builder.client(pool, server);
        }
      }
    }
    return new Driver(builder.connections(), yours);
  }
}
