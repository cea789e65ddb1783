package dev.holdfast.drivertests;

import static dev.holdfast.testsupport.Eventually.soon;
import static dev.holdfast.testsupport.Eventually.within;
import static java.util.Collections.disjoint;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import dev.holdfast.testsupport.Logs;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Nodes that do not answer, or not at once, with the whole of Redlock above the driver. */
public abstract class FrozenMajorityContract {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /** Long, so that a call that waits for it differs from one that a busy machine delays. */
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(500);

  private static final Duration SHORT_WAIT = Duration.ofMillis(100);
  private static final int CALLS = 20;

  /** One call of several takes less even on a busy machine. */
  private static final Duration AT_ONCE = Duration.ofMillis(20);

  /** The silence that ends a connection, a further {@link #NODE_TIMEOUT}, and a busy machine's. */
  private static final Duration BOUND = Duration.ofSeconds(6);

  /** Longer than the default {@code connectTimeout}, and than any timeout of a client here. */
  private static final Duration PAUSE = Duration.ofMillis(2_500);

  private static final RedlockOptions OPTIONS =
      RedlockOptions.defaults()
          .nodeTimeout(NODE_TIMEOUT)
          .quorumTimeout(QUORUM_TIMEOUT)
          .connectTimeout(Duration.ofSeconds(10));

  private final BiFunction<List<String>, RedlockOptions, Driver> drivers;
  @AutoClose private final TestNodes servers = TestNodes.start(3);

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected FrozenMajorityContract(BiFunction<List<String>, RedlockOptions, Driver> drivers) {
    this.drivers = drivers;
  }

  @Test
  void firstCallIsAnOutageAfterQuorumTimeoutAndLaterCallsFailAtOnce() throws InterruptedException {
    try (Driver driver = drivers.apply(servers.uris(), OPTIONS);
        LockManager locks = driver.open(OPTIONS)) {
      locks.acquire("early", TTL).close();
      freezeMajority();

      assertThat(timeOfOutage(() -> locks.tryAcquire("first", TTL)))
          .isBetween(QUORUM_TIMEOUT, QUORUM_TIMEOUT.multipliedBy(2));

      assertThatCallsEndAtOnce(locks);
    }
  }

  @Test
  void aShortWaitIsOverWithItsFirstAttemptAndLaterOnesInTime() throws InterruptedException {
    LockRequest request = LockRequest.of("waits", TTL).waitAtMost(SHORT_WAIT);
    try (Driver driver = drivers.apply(servers.uris(), OPTIONS);
        LockManager locks = driver.open(OPTIONS)) {
      locks.acquire("early", TTL).close();
      freezeMajority();

      assertThat(timeOfOutage(() -> locks.tryAcquire(request)))
          .isLessThan(QUORUM_TIMEOUT.multipliedBy(2));

      Duration later = timeOfOutage(() -> locks.tryAcquire(request));
      if (later.compareTo(QUORUM_TIMEOUT) >= 0) {
        // a deadline that this machine made late gives up no connection
        later = timeOfOutage(() -> locks.tryAcquire(request));
      }
      assertThat(later).isBetween(SHORT_WAIT.dividedBy(2), QUORUM_TIMEOUT.minusMillis(1));
    }
  }

  @Test
  void releaseBehindAHangingRenewalEndsAfterQuorumTimeout() throws InterruptedException {
    try (Driver driver = drivers.apply(servers.uris(), OPTIONS);
        LockManager locks = driver.open(OPTIONS)) {
      Lease lease = locks.acquire("held", TTL);
      freezeMajority();
      CompletableFuture<Void> renewal = lease.extendAsync(TTL);

      assertThat(timeOfOutage(lease::release)).isLessThan(QUORUM_TIMEOUT.multipliedBy(2));

      assertThat(renewal).isCompletedExceptionally();
      assertThatCallsEndAtOnce(locks);
    }
  }

  /** Neither the driver nor a client of its user's has a shorter patience of its own. */
  @Test
  void nodesThatPauseForLessThanQuorumTimeoutKeepTheirConnections() throws InterruptedException {
    RedlockOptions patient =
        RedlockOptions.defaults().connectLazily().quorumTimeout(PAUSE.multipliedBy(4));
    try (Logs logs = new Logs();
        Driver driver = drivers.apply(servers.uris(), patient);
        LockManager locks = driver.open(patient)) {
      soon()
          .ignoreExceptionsInstanceOf(LockOutageException.class)
          .until(
              () ->
                  locks.tryAcquire("early", TTL).map(Lease::release).orElse(false)
                      && connections().stream().noneMatch(Set::isEmpty));
      List<Set<String>> before = connections();
      servers
          .all()
          .forEach(node -> node.command("CLIENT", "PAUSE", Long.toString(PAUSE.toMillis()), "ALL"));

      long start = System.nanoTime();
      Lease lease = locks.tryAcquire("slow", TTL).orElseThrow();

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(PAUSE.dividedBy(2), patient.quorumTimeout());
      assertThat(lease.release()).isTrue();
      assertThat(connections()).isEqualTo(before);
      assertThat(logs.messages()).noneMatch(message -> message.contains("is down"));
    }
  }

  @Test
  void aReplyThatStopsMidwayEndsItsConnection() throws Exception {
    TestNode first = servers.node(0);
    try (FaultProxy proxy = new FaultProxy(first.host(), first.port());
        Driver driver =
            drivers.apply(
                List.of(proxy.uri(), servers.node(1).uri(), servers.node(2).uri()), OPTIONS);
        LockManager locks = driver.open(OPTIONS)) {
      soon().until(() -> isUsed(locks) && !connections(first).isEmpty());
      Set<String> stalled = connections(first);
      proxy.breakRepliesOff(true);

      within(BOUND).until(() -> isUsed(locks) && disjoint(connections(first), stalled));

      proxy.breakRepliesOff(false);
      proxy.cut(); // attempts to connect that got a part of a reply
      soon().until(() -> isUsed(locks) && locks.nodes().get(0).state() == LockNode.State.UP);
    }
  }

  private void freezeMajority() {
    servers.node(0).freeze();
    servers.node(2).freeze();
  }

  /** Takes a lock, for which a majority is enough. */
  private static boolean isUsed(LockManager locks) throws InterruptedException {
    locks.acquire("used", TTL).close();
    return true;
  }

  /** The ids of the connections to each server, that of the test itself left out. */
  private List<Set<String>> connections() {
    return servers.all().stream().map(FrozenMajorityContract::connections).toList();
  }

  private static Set<String> connections(TestNode server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal"))
        .lines()
        .filter(line -> !line.contains(" cmd=client"))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .collect(Collectors.toSet());
  }

  private static void assertThatCallsEndAtOnce(LockManager locks) {
    List<Duration> calls =
        IntStream.range(0, CALLS)
            .mapToObj(i -> timeOfOutage(() -> locks.tryAcquire("later-" + i, TTL)))
            .sorted()
            .toList();
    assertThat(calls.get(0)).isLessThan(AT_ONCE);
    assertThat(calls.get(CALLS / 2)).isLessThan(NODE_TIMEOUT.dividedBy(2));
    assertThat(calls.get(CALLS - 2))
        .as("all but one, which a stall may delay")
        .isLessThan(QUORUM_TIMEOUT);
  }

  /** Loads no assertions in the time that is measured. */
  private static Duration timeOfOutage(Callable<?> call) {
    long start = System.nanoTime();
    try {
      throw new AssertionError("no outage, but " + call.call());
    } catch (LockOutageException outage) {
      return Duration.ofNanos(System.nanoTime() - start);
    } catch (Exception e) {
      throw new AssertionError("no outage", e);
    }
  }
}
