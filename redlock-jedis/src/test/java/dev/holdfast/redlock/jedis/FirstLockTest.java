package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.drivertests.FirstLockContract;
import dev.holdfast.testnodes.TestNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

class FirstLockTest extends FirstLockContract {
  private final List<RedisClient> yours = new ArrayList<>();

  FirstLockTest() {
    super("jedis", 1, 1 + 5); // a thread connects to each node, and ends soon
  }

  @AfterEach
  void closeClients() {
    yours.forEach(RedisClient::close);
  }

  @Test
  void urisOpenAManager() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    servers.uris().forEach(uri -> builder.node(URI.create(uri)));
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void addressesWithConfigurationsOpenAManager() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : servers.all()) {
      builder.node(addressOf(server), DefaultJedisClientConfig.builder().resp3().build());
    }
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void givenClientsOpenAManager() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : servers.all()) {
      builder.client(yourClient(server, 8), addressOf(server));
    }
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
      assertThat(locks.unwrap(RedisClient.class)).containsSame(yours.get(0));
      assertThat(locks.unwrap(Connection.class)).isEmpty();
    }
    assertThatYoursAreAsBefore();
  }

  @Test
  void twoManagersShareGivenClients() throws Exception {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : servers.all()) {
      builder.client(yourClient(server, 8), addressOf(server));
    }
    useTwo(builder::open);
    assertThatYoursAreAsBefore();
  }

  @Test
  void givenPoolsOpenAManager() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : servers.all()) {
      builder.client(yourClient(server, 8).getPool(), addressOf(server));
    }
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
      assertThat(locks.unwrap(Pool.class)).containsSame(yours.get(0).getPool());
    }
    assertThatYoursAreAsBefore();
  }

  @Test
  void poolOfOneServesAllThreadsAndItsUser() throws Exception {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : servers.all()) {
      builder.client(yourClient(server, 1), addressOf(server));
    }
    try (LockManager locks = builder.open()) {
      CompletableFuture<Void> user =
          CompletableFuture.runAsync(
              () -> IntStream.range(0, 100).forEach(i -> yours.get(i % 5).incr("yours")));
      Peaks peaks = useByManyThreads(locks);
      user.join();
      assertThat(peaks.connections()).as(ONE_ABOUT_TO_LISTEN).isLessThanOrEqualTo(2);
      assertThatOneConnectionIsLeftToEach();
      assertThat(peaks.threads()).isEqualTo(5);
      assertThat(threadsOfOurs()).allMatch(Thread::isDaemon);
    }
    assertThatYoursAreAsBefore();
  }

  private RedisClient yourClient(TestNode server, int connections) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(connections);
    RedisClient client =
        RedisClient.builder().hostAndPort(addressOf(server)).poolConfig(pool).build();
    yours.add(client);
    return client;
  }

  /** Open, nothing kept of it, and with the timeout that it was given. */
  private void assertThatYoursAreAsBefore() {
    for (RedisClient client : yours) {
      assertThat(client.getPool().getNumActive()).isZero();
      try (Connection connection = client.getPool().getResource()) {
        assertThat(connection.getSoTimeout()).isEqualTo(2_000);
        assertThat(connection.ping()).isTrue();
      }
    }
  }

  private static HostAndPort addressOf(TestNode server) {
    return new HostAndPort(server.host(), server.port());
  }
}
