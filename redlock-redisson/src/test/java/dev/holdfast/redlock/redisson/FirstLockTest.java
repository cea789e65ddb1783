package dev.holdfast.redlock.redisson;

import static dev.holdfast.redlock.redisson.Soon.soon;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

class FirstLockTest {
  private static final TestNodes SERVERS = TestNodes.start(5);
  private static final Duration TTL = Duration.ofSeconds(10);

  @AfterEach
  void nothingIsLeft() {
    for (TestNode server : SERVERS.all()) {
      soon().until(() -> connectionsTo(server) == 0);
    }
    soon().until(() -> threadsOfOurs().isEmpty());
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void byUrl() throws InterruptedException {
    try (LockManager locks = LockManager.open("redlock:" + String.join(",", SERVERS.uris()))) {
      takeAndRelease(locks);
      assertThat(locks.capabilities()).contains(LockCapability.FAULT_TOLERANT);
      assertThat(locks.unwrap(RedissonClient.class)).isEmpty();
    }
  }

  @Test
  void byUrlThatNamesTheDriver() throws InterruptedException {
    try (LockManager locks =
        LockManager.open("redlock:redisson:" + String.join(",", SERVERS.uris()))) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byAddresses() throws InterruptedException {
    RedissonRedlock.Builder builder = RedissonRedlock.builder();
    SERVERS.uris().forEach(builder::node);
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void byClientsOfYours() throws InterruptedException {
    List<RedissonClient> yours = SERVERS.uris().stream().map(YourClients::connected).toList();
    try {
      RedissonRedlock.Builder builder = RedissonRedlock.builder();
      yours.forEach(builder::client);
      List<Long> before = SERVERS.all().stream().map(FirstLockTest::connectionsTo).toList();
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedissonClient.class)).containsSame(yours.get(0));
        assertThat(locks.unwrap(Redisson.class)).containsSame((Redisson) yours.get(0));
        assertThat(threadsOfOurs()).noneMatch(thread -> thread.getName().contains("redisson"));
        for (TestNode server : SERVERS.all()) {
          assertThat(connectionsTo(server)).isEqualTo(before.get(server.index()) + 1);
        }
      }
      for (TestNode server : SERVERS.all()) {
        assertThatItIsLeftOpen(yours.get(server.index()));
        soon().until(() -> connectionsTo(server) == before.get(server.index()));
      }
    } finally {
      yours.forEach(YourClients::shutdown);
    }
  }

  @Test
  void byClientsOfYoursAndAddresses() throws InterruptedException {
    RedissonClient yours = YourClients.connected(SERVERS.node(2).uri());
    try {
      RedissonRedlock.Builder builder = RedissonRedlock.builder();
      for (TestNode server : SERVERS.all()) {
        if (server.index() == 2) {
          builder.client(yours);
        } else {
          builder.node(server.uri());
        }
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
      }
      assertThatItIsLeftOpen(yours);
    } finally {
      YourClients.shutdown(yours);
    }
  }

  @Test
  void oneConnectionToEachNodeAndTwoDaemonsAreEnoughForAnyNumberOfThreads() {
    ExecutorService threads = Executors.newFixedThreadPool(128);
    // Redisson sets a timer for the choice of a database
    String nodes = SERVERS.uris().stream().map(uri -> uri + "/1").collect(joining(","));
    try (LockManager locks = LockManager.open("redlock:" + nodes + "?nodeTimeout=1s")) {
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
      assertThat(ours.stream().map(Thread::getName).filter(name -> name.contains("redisson")))
          .hasSize(2);
    } finally {
      threads.shutdown();
    }
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

  private static void assertThatItIsLeftOpen(RedissonClient client) {
    assertThat(client.isShuttingDown()).isFalse();
    assertThat(client.getBucket("none", StringCodec.INSTANCE).get()).isNull();
  }

  /** The connection of the test itself left out. */
  private static long connectionsTo(TestNode server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal")).lines().count() - 1;
  }

  private static List<Thread> threadsOfOurs() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("holdfast-"))
        .filter(thread -> !thread.getName().startsWith("holdfast-nodes"))
        .toList();
  }
}
