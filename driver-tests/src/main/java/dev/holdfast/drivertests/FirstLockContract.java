package dev.holdfast.drivertests;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.util.concurrent.TimeUnit.SECONDS;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The ways to open a manager, what it needs, and that nothing is left of it. */
public abstract class FirstLockContract {
  /** Options with time for busy machines. */
  protected static final RedlockOptions PATIENT =
      RedlockOptions.defaults()
          .quorumTimeout(Duration.ofSeconds(5))
          .connectTimeout(Duration.ofSeconds(10));

  /** The same, at the end of a URL. */
  static final String PATIENCE = "?quorumTimeout=5s&connectTimeout=10s";

  /** A waiter that was refused once subscribes, on a connection that servers tell apart. */
  protected static final String ONE_ABOUT_TO_LISTEN = "with one that is about to listen";

  private static final int THREADS = 128;
  private static final Duration TTL = Duration.ofSeconds(10);

  private static TestNodes started;

  /** Five, for all tests. */
  protected final TestNodes servers;

  private final String driver;
  private final int threads;
  private final int threadsAtTheStart;

  /**
   * For each test.
   *
   * @param driver its name in URLs, and in the names of its threads
   * @param threads how many it has, for any number of nodes and users
   * @param threadsAtTheStart how many it has at the most while it connects to five nodes
   */
  protected FirstLockContract(String driver, int threads, int threadsAtTheStart) {
    this.servers = started;
    this.driver = driver;
    this.threads = threads;
    this.threadsAtTheStart = threadsAtTheStart;
  }

  @BeforeAll
  static void start() {
    started = TestNodes.start(5);
  }

  @AfterEach
  void nothingIsLeft() {
    for (TestNode server : servers.all()) {
      soon().until(() -> Connections.to(server) == 0);
    }
    soon().atMost(Duration.ofSeconds(5)).untilAsserted(() -> assertThat(threadsOfOurs()).isEmpty());
  }

  @AfterAll
  static void stop() {
    started.close();
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
    try (LockManager locks = LockManager.open(url("redlock:" + driver + ":"))) {
      takeAndRelease(locks);
    }
  }

  /** Counts in a database of its own: a client may set a timer for the choice. */
  @Test
  void oneConnectionToEachNodeAndFewDaemonsAreEnoughForAnyNumberOfThreads() {
    String nodes = servers.uris().stream().map(uri -> uri + "/1").collect(joining(","));
    servers.all().forEach(server -> server.vouch(1));
    try (LockManager locks = LockManager.open("redlock:" + nodes + PATIENCE)) {
      Peaks peaks = useByManyThreads(locks);
      assertThat(peaks.connections()).as(ONE_ABOUT_TO_LISTEN).isLessThanOrEqualTo(2);
      assertThatOneConnectionIsLeftToEach();
      assertThat(peaks.threads()).isLessThanOrEqualTo(threadsAtTheStart);
      soon().untilAsserted(() -> assertThat(threadsOfTheDriver()).hasSize(threads));
      assertThat(threadsOfOurs()).allMatch(Thread::isDaemon);
    }
  }

  /** Asserts it without the connections that subscribe. */
  protected final void assertThatOneConnectionIsLeftToEach() {
    for (TestNode server : servers.all()) {
      soon().untilAsserted(() -> assertThat(Connections.to(server)).isEqualTo(1));
    }
  }

  /** A URL of all servers, as patient as {@link #PATIENT}. */
  protected final String url(String scheme) {
    return scheme + String.join(",", servers.uris()) + PATIENCE;
  }

  /** Takes a lock, which all servers come to hold, and releases it on all. */
  protected final void takeAndRelease(LockManager locks) throws InterruptedException {
    Lease lease = locks.acquire("first", TTL);
    for (TestNode server : servers.all()) {
      soon()
          .untilAsserted(() -> assertThat(server.command("GET", "first")).isEqualTo(lease.token()));
    }
    assertThat(lease.release()).isTrue();
    for (TestNode server : servers.all()) {
      soon().untilAsserted(() -> assertThat(server.command("EXISTS", "first")).isEqualTo(0L));
    }
  }

  /** Opens two managers over clients of the user's, and lets the second one outlive the first. */
  protected final void useTwo(Supplier<LockManager> opener) throws Exception {
    try (LockManager two = opener.get()) {
      try (LockManager one = opener.get()) {
        Lease held = one.acquire("shared", TTL);
        assertThat(two.tryAcquire("shared", TTL)).isEmpty();
        CompletableFuture<Optional<Lease>> waiter =
            two.tryAcquireAsync(LockRequest.of("shared", TTL).waitForever());
        assertThat(held.release()).isTrue();
        assertThat(waiter.get(TTL.toSeconds(), SECONDS).orElseThrow().release()).isTrue();
      }
      takeAndRelease(two);
    }
  }

  /** The most that were seen at one time: connections to one node, and threads of the driver. */
  protected record Peaks(long connections, int threads) {}

  /** Four contend for each lock. */
  protected final Peaks useByManyThreads(LockManager locks) {
    ExecutorService users = Executors.newFixedThreadPool(THREADS);
    try {
      CompletableFuture<?>[] all =
          IntStream.range(0, THREADS)
              .mapToObj(i -> CompletableFuture.runAsync(() -> use(locks, "lock-" + i / 4), users))
              .toArray(CompletableFuture[]::new);
      CompletableFuture<Void> end = CompletableFuture.allOf(all);
      Peaks peaks = new Peaks(0, 0);
      while (!end.isDone()) {
        long connections = servers.all().stream().mapToLong(Connections::to).max().orElse(0);
        peaks =
            new Peaks(
                Math.max(peaks.connections(), connections),
                Math.max(peaks.threads(), threadsOfTheDriver().size()));
      }
      end.join();
      return peaks;
    } finally {
      users.shutdown();
    }
  }

  private static void use(LockManager locks, String name) {
    for (int round = 0; round < 10; round++) {
      try {
        locks.acquire(name, TTL).close();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * Asserts it except for subscriptions, because whether a waiter waited for long enough is chance.
   */
  private List<Thread> threadsOfTheDriver() {
    return threadsOfOurs().stream()
        .filter(thread -> thread.getName().contains(driver))
        .filter(thread -> !thread.getName().endsWith("-listen"))
        .toList();
  }

  /** All that a manager has started, in the driver and above it. */
  protected static List<Thread> threadsOfOurs() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("holdfast-"))
        .filter(thread -> !thread.getName().startsWith("holdfast-nodes"))
        .toList();
  }
}
