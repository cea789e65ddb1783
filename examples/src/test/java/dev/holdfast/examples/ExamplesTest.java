package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** Runs the examples against real servers. */
class ExamplesTest {
  private static TestNodes nodes;

  @BeforeAll
  static void start() {
    nodes = TestNodes.start(3);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  void aFirstLock(String driver) throws InterruptedException {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      FirstLock.main(new String[] {url(driver)});
    } finally {
      System.setOut(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8)).startsWith("the report");
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  void aLongJob(String driver) throws InterruptedException {
    try (LockManager locks = LockManager.open(url(driver))) {
      assertThat(LongJob.run(locks, 20, new CountDownLatch(1))).isEqualTo("done");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  void withoutAThreadThatWaits(String driver) {
    try (LockManager locks = LockManager.open(url(driver))) {
      assertThat(Async.locked(locks, "async", () -> CompletableFuture.supplyAsync(() -> "done")))
          .succeedsWithin(Duration.ofSeconds(10))
          .isEqualTo("done");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  void callbacksOnAnExecutorOfTheApplication(String driver) throws InterruptedException {
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "of the application"));
    try (LockManager locks = Async.open(url(driver), executor)) {
      LockRequest request = LockRequest.of("called-back-" + driver, Duration.ofSeconds(10));
      Lease first = locks.tryAcquire(request).orElseThrow();
      // Asked for while it is held: a future that is done already calls back in this thread.
      CompletableFuture<String> thread =
          locks
              .tryAcquireAsync(request.waitAtMost(Duration.ofSeconds(10)))
              .thenApply(lease -> Thread.currentThread().getName());
      first.close();
      assertThat(thread).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("of the application");
    } finally {
      executor.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  void aJobThatIsDeliveredTwiceIsDoneOnce(String driver) throws InterruptedException {
    List<String> queue = new ArrayList<>();
    try (LockManager web = LockManager.open(url(driver));
        LockManager worker = LockManager.open(url(driver))) {
      Transfer.request(web, "report", queue::add);
      assertThat(web.tryAcquire("report", Duration.ofSeconds(10))).isEmpty();

      String message = queue.get(0);
      assertThat(Transfer.work(worker, "report", message, Lease::isHeld)).contains(true);
      assertThat(Transfer.work(web, "report", message, Lease::isHeld)).isEmpty();
      web.tryAcquire("report", Duration.ofSeconds(10)).orElseThrow().close();
    }
  }

  @Test
  void workThatThrowsReleasesTheLockAnyway() throws InterruptedException {
    try (LockManager locks = LockManager.open(url("lettuce"))) {
      assertThat(
              Async.locked(
                  locks,
                  "async-that-throws",
                  () -> {
                    throw new IllegalStateException("no work today");
                  }))
          .failsWithin(Duration.ofSeconds(10))
          .withThrowableThat()
          .withMessageContaining("no work today");
      assertThat(locks.inspect("async-that-throws")).isEmpty();
    }
  }

  @Test
  void workThatOutlivesItsLockFails() {
    LockManager locks = LockManager.open(url("lettuce"));
    assertThat(
            Async.locked(
                locks,
                "async-that-loses-its-lock",
                () -> CompletableFuture.runAsync(locks::close).thenApply(closed -> "too late")))
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .withCauseInstanceOf(LockLostException.class);
  }

  @Test
  void aCallerThatCancelsWhileItWaitsLeavesNoLock() throws InterruptedException {
    try (LockManager locks = LockManager.open(url("lettuce"));
        Lease first = locks.acquire("async-that-is-cancelled", Duration.ofSeconds(30))) {
      CompletableFuture<String> waiting =
          Async.locked(
              locks, "async-that-is-cancelled", () -> CompletableFuture.completedFuture("done"));
      assertThat(waiting.cancel(true)).isTrue();
      assertThat(first.release()).isTrue();

      LockRequest next =
          LockRequest.of("async-that-is-cancelled", Duration.ofSeconds(30))
              .waitAtMost(Duration.ofSeconds(5)); // less than its ttl
      assertThat(locks.tryAcquire(next)).isPresent();
    }
  }

  @Test
  void clientsOfJedis() throws InterruptedException {
    List<HostAndPort> servers =
        nodes.all().stream().map(node -> new HostAndPort(node.host(), node.port())).toList();
    List<RedisClient> clients =
        servers.stream().map(at -> RedisClient.builder().hostAndPort(at).build()).toList();
    try (LockManager locks = YourOwnClients.jedis(clients, servers)) {
      assertThatALockIsGot(locks);
    }
    assertThat(clients).allSatisfy(client -> assertThat(client.ping()).isEqualTo("PONG"));
    clients.forEach(RedisClient::close);
  }

  @Test
  void aClientOfLettuce() throws InterruptedException {
    io.lettuce.core.RedisClient client = io.lettuce.core.RedisClient.create();
    client.setOptions(
        ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build());
    List<RedisURI> servers = nodes.uris().stream().map(RedisURI::create).toList();
    try (LockManager locks = YourOwnClients.lettuce(client, servers)) {
      assertThatALockIsGot(locks);
    }
    client.shutdown(Duration.ZERO, Duration.ofSeconds(5));
  }

  @Test
  void clientsOfRedisson() throws InterruptedException {
    List<RedissonClient> clients = nodes.all().stream().map(ExamplesTest::redisson).toList();
    try (LockManager locks = YourOwnClients.redisson(clients)) {
      assertThatALockIsGot(locks);
    }
    assertThat(clients).noneMatch(RedissonClient::isShutdown);
    clients.forEach(RedissonClient::shutdown);
  }

  private static RedissonClient redisson(TestNode node) {
    Config config = new Config();
    config.useSingleServer().setAddress(node.uri()).setRetryAttempts(0);
    return Redisson.create(config);
  }

  private static void assertThatALockIsGot(LockManager locks) throws InterruptedException {
    try (Lease lease = locks.acquire("own-clients", Duration.ofSeconds(10))) {
      assertThat(lease.isHeld()).isTrue();
    }
  }

  private static String url(String driver) {
    return "redlock:" + driver + ":" + String.join(",", nodes.uris()) + "?nodeTimeout=2s";
  }
}
