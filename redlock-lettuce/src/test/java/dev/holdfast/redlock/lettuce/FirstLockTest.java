package dev.holdfast.redlock.lettuce;

import static dev.holdfast.redlock.lettuce.Soon.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FirstLockTest {
  private static final TestNodes SERVERS = TestNodes.start(5);
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final RedlockOptions PATIENT =
      RedlockOptions.defaults().nodeTimeout(Duration.ofSeconds(1));

  @AfterEach
  void nothingIsLeft() {
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
    try (LockManager locks = LockManager.open(url("redlock:lettuce:"))) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byAddresses() throws InterruptedException {
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
    SERVERS.uris().forEach(uri -> builder.node(RedisURI.create(uri)));
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byOneClientOfYoursForAllNodes() throws InterruptedException {
    RedisClient yours = yourClient();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      SERVERS.uris().forEach(uri -> builder.client(yours, RedisURI.create(uri)));
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedisClient.class)).containsSame(yours);
        assertThat(locks.unwrap(StatefulRedisConnection.class)).isEmpty();
      }
      assertThatItIsOpen(yours);
    } finally {
      yours.shutdown();
    }
  }

  /** Lettuce would warn of a connection that both have closed. */
  @Test
  void yourClientMayBeShutDownRightAfterTheManager() {
    try (Logs logs = new Logs()) {
      for (int i = 0; i < 20; i++) {
        RedisClient yours = yourClient();
        LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
        SERVERS.uris().forEach(uri -> builder.client(yours, RedisURI.create(uri)));
        builder.open().close();
        yours.shutdown();
      }
      assertThat(logs.messages()).isEmpty();
    }
  }

  @Test
  void byAClientOfYoursForEachNode() throws InterruptedException {
    List<RedisClient> yours = Stream.generate(FirstLockTest::yourClient).limit(5).toList();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      for (TestNode server : SERVERS.all()) {
        builder.client(yours.get(server.index()), RedisURI.create(server.uri()));
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedisClient.class)).containsSame(yours.get(0));
      }
      yours.forEach(FirstLockTest::assertThatItIsOpen);
    } finally {
      yours.forEach(RedisClient::shutdown);
    }
  }

  @Test
  void bothYourClientAndOurs() throws InterruptedException {
    RedisClient yours = yourClient();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      for (TestNode server : SERVERS.all()) {
        RedisURI uri = RedisURI.create(server.uri());
        if (server.index() % 2 == 0) {
          builder.client(yours, uri);
        } else {
          builder.node(uri);
        }
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
      }
      assertThatItIsOpen(yours);
    } finally {
      yours.shutdown();
    }
  }

  @Test
  void anUnwrappedClientOfOursIsAWholeClient() {
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      assertThatItIsOpen(locks.unwrap(RedisClient.class).orElseThrow());
    }
  }

  @Test
  void oneConnectionToEachNodeAndTwoDaemonsAreEnoughForAnyNumberOfThreads() {
    ExecutorService threads = Executors.newFixedThreadPool(128);
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      CompletableFuture<?>[] all =
          IntStream.range(0, 128)
              .mapToObj(
                  i ->
                      CompletableFuture.runAsync(
                          () -> {
                            for (int round = 0; round < 5; round++) {
                              acquireUnchecked(locks, "lock-" + i % 32).close();
                            }
                          },
                          threads))
              .toArray(CompletableFuture[]::new);
      CompletableFuture.allOf(all).join();

      assertThat(SERVERS.all()).allSatisfy(node -> assertThat(connectionsTo(node)).isEqualTo(1));
      List<Thread> ours = threadsOfOurs();
      assertThat(ours).allMatch(Thread::isDaemon);
      assertThat(ours.stream().map(Thread::getName).filter(name -> name.contains("lettuce")))
          .hasSize(2);
    } finally {
      threads.shutdown();
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

  private static RedisClient yourClient() {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    return client;
  }

  private static void assertThatItIsOpen(RedisClient client) {
    try (StatefulRedisConnection<String, String> connection =
        client.connect(RedisURI.create(SERVERS.node(0).uri()))) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  /** The connection of the test itself left out. */
  private static long connectionsTo(TestNode server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal")).lines().count() - 1;
  }

  private static List<Thread> threadsOfOurs() {
    return new ArrayList<>(
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("holdfast-"))
            .filter(thread -> !thread.getName().startsWith("holdfast-nodes"))
            .toList());
  }
}
