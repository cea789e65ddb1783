package dev.holdfast.redlock.jedis;

import static dev.holdfast.redlock.jedis.Soon.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

class FirstLockTest {
  private static final TestNodes SERVERS = TestNodes.start(5);
  private static final int THREADS = 128;
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final RedlockOptions PATIENT =
      RedlockOptions.defaults().nodeTimeout(Duration.ofSeconds(1));

  private final List<RedisClient> yours = new ArrayList<>();

  @AfterEach
  void nothingIsLeft() {
    yours.forEach(RedisClient::close);
    for (TestNode server : SERVERS.all()) {
      soon().until(() -> connectionsTo(server) == 0);
    }
    soon().atMost(Duration.ofSeconds(5)).untilAsserted(() -> assertThat(threadsOfOurs()).isEmpty());
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void byUrl() throws InterruptedException {
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      takeAndRelease(locks);
      assertThat(locks.capabilities()).contains(LockCapability.FAULT_TOLERANT);
    }
  }

  @Test
  void byUrlThatNamesTheDriver() throws InterruptedException {
    try (LockManager locks = LockManager.open(url("redlock:jedis:"))) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byUris() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    SERVERS.uris().forEach(uri -> builder.node(URI.create(uri)));
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byAddressesAndConfigurations() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : SERVERS.all()) {
      builder.node(addressOf(server), DefaultJedisClientConfig.builder().resp3().build());
    }
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byClientsOfYours() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : SERVERS.all()) {
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
  void byPoolsOfYours() throws InterruptedException {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : SERVERS.all()) {
      builder.client(yourClient(server, 8).getPool(), addressOf(server));
    }
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
      assertThat(locks.unwrap(Pool.class)).containsSame(yours.get(0).getPool());
    }
    assertThatYoursAreAsBefore();
  }

  @Test
  void oneConnectionToEachNodeIsEnoughForAnyNumberOfThreads() throws Exception {
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      Peaks peaks = useByManyThreads(locks);
      assertThat(peaks.connections()).isEqualTo(1);
      assertThat(peaks.threads()).isLessThanOrEqualTo(1 + 5); // those that connected end soon
      soon().untilAsserted(() -> assertThat(driverThreads()).hasSize(1));
      assertThat(threadsOfOurs()).allMatch(Thread::isDaemon);
    }
  }

  @Test
  void aPoolOfOneIsEnoughForAnyNumberOfThreadsAndForItsUserBesides() throws Exception {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(PATIENT);
    for (TestNode server : SERVERS.all()) {
      builder.client(yourClient(server, 1), addressOf(server));
    }
    try (LockManager locks = builder.open()) {
      CompletableFuture<Void> user =
          CompletableFuture.runAsync(
              () -> IntStream.range(0, 100).forEach(i -> yours.get(i % 5).incr("yours")));
      Peaks peaks = useByManyThreads(locks);
      user.join();
      assertThat(peaks.connections()).isEqualTo(1);
      assertThat(peaks.threads()).isEqualTo(5);
      assertThat(threadsOfOurs()).allMatch(Thread::isDaemon);
    }
    assertThatYoursAreAsBefore();
  }

  /** The most that were seen at one moment: connections to one node, and threads of the driver. */
  private record Peaks(long connections, int threads) {}

  /** Two contend for each lock. */
  private static Peaks useByManyThreads(LockManager locks) {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      CompletableFuture<?>[] all =
          IntStream.range(0, THREADS)
              .mapToObj(i -> CompletableFuture.runAsync(() -> use(locks, "lock-" + i / 2), threads))
              .toArray(CompletableFuture[]::new);
      CompletableFuture<Void> end = CompletableFuture.allOf(all);
      Peaks peaks = new Peaks(0, 0);
      while (!end.isDone()) {
        long connections = SERVERS.all().stream().mapToLong(n -> connectionsTo(n)).max().orElse(0);
        peaks =
            new Peaks(
                Math.max(peaks.connections(), connections),
                Math.max(peaks.threads(), driverThreads().size()));
      }
      end.join();
      return peaks;
    } finally {
      threads.shutdown();
    }
  }

  private static void use(LockManager locks, String name) {
    for (int round = 0; round < 10; round++) {
      acquireUnchecked(locks, name).close();
    }
  }

  private static String url(String scheme) {
    return scheme + String.join(",", SERVERS.uris()) + "?nodeTimeout=1s";
  }

  private static void takeAndRelease(LockManager locks) throws InterruptedException {
    Lease lease = locks.acquire("first", TTL);
    for (TestNode server : SERVERS.all()) {
      soon()
          .untilAsserted(() -> assertThat(server.command("GET", "first")).isEqualTo(lease.token()));
    }
    assertThat(lease.release()).isTrue();
    for (TestNode server : SERVERS.all()) {
      soon().untilAsserted(() -> assertThat(server.command("EXISTS", "first")).isEqualTo(0L));
    }
  }

  private static Lease acquireUnchecked(LockManager locks, String name) {
    try {
      return locks.acquire(name, TTL);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private RedisClient yourClient(TestNode server, int connections) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(connections);
    RedisClient client =
        RedisClient.builder().hostAndPort(addressOf(server)).poolConfig(pool).build();
    yours.add(client);
    return client;
  }

  /** Open, nothing kept of it, and with the time-out that it was given. */
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

  /** The connection of the test itself left out. */
  private static long connectionsTo(TestNode server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal")).lines().count() - 1;
  }

  private static List<Thread> driverThreads() {
    return threadsOfOurs().stream().filter(t -> t.getName().contains("jedis")).toList();
  }

  private static List<Thread> threadsOfOurs() {
    return new ArrayList<>(
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("holdfast-"))
            .filter(thread -> !thread.getName().startsWith("holdfast-nodes"))
            .toList());
  }
}
