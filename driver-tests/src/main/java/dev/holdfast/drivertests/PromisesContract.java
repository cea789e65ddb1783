package dev.holdfast.drivertests;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.Subscription;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The promises of {@link dev.holdfast.redlock.spi.RedisNodes}, with any client. */
public abstract class PromisesContract {
  private static final String COUNT = "return redis.call('INCR', KEYS[1])";
  private static final String APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])";

  private static final int MANY = 40_000;

  /** Number of drivers that are closed while they connect. */
  private static final int CLOSED_AT_ONCE = 20;

  private static final long LATER_NANOS = 100_000;

  private static TestNodes servers;

  /** The first of three, without keys. */
  protected final TestNode server;

  private final Function<List<String>, Driver> drivers;

  /** Not connected. */
  protected final Driver driver;

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected PromisesContract(Function<List<String>, Driver> drivers) {
    this.server = servers.node(0);
    this.drivers = drivers;
    this.driver = drivers.apply(servers.uris());
  }

  /** Makes one more driver. */
  protected final Driver over(String... uris) {
    return drivers.apply(List.of(uris));
  }

  @BeforeAll
  static void start() {
    servers = TestNodes.start(3);
  }

  @BeforeEach
  void empty() {
    servers.all().forEach(node -> node.command("FLUSHALL"));
  }

  @AfterEach
  void close() {
    driver.close();
    if (server.state() == TestNode.State.DOWN) {
      server.restart();
    }
    server.thaw();
    servers.all().forEach(node -> soon().until(() -> Connections.to(node) == 0));
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @Test
  void addressesNameHostAndPort() {
    assertThat(driver.nodes().addresses())
        .isEqualTo(servers.all().stream().map(TestNode::address).toList());
  }

  @Test
  void aRoundGoesToTheNodesThatItAsksAndToNoOther() throws Exception {
    for (int node = 0; node < 3; node++) {
      driver.connect(node);
    }
    Asked asked = Asked.of(driver.first(), NodeSet.of(0, 2), () -> {}, COUNT);
    soon().until(() -> asked.answers().size() == 2);
    assertThat(asked.answers())
        .containsExactlyInAnyOrder(new Asked.Reply(0, 1L), new Asked.Reply(2, 1L));
    assertThat(servers.node(1).command("EXISTS", "the-key")).isEqualTo(0L);
  }

  @Test
  void aCommandThatWasCutOffIsNotSentAgain() throws Exception {
    try (FaultProxy proxy = new FaultProxy(server.host(), server.port());
        Driver behind = over(proxy.uri())) {
      AtomicInteger ends = behind.connect(0);
      assertThat(Asked.of(behind.first(), COUNT).reply()).isEqualTo(1L);

      proxy.loseReplies(true);
      Asked lost = Asked.of(behind.first(), COUNT);
      soon().until(() -> "2".equals(server.command("GET", "the-key")));
      proxy.cut();
      proxy.loseReplies(false);

      assertThat(lost.failure()).isNotNull();
      soon().until(() -> ends.get() == 1);
      behind.connect(0);
      assertThat(Asked.of(behind.first(), COUNT).reply()).isEqualTo(3L);
      assertThat(lost.answers()).hasSize(1);
    }
  }

  /** A node that hangs has gathered them by the time that its connection is dropped. */
  @Test
  void endOfABusyConnectionDelaysNoOtherNode() throws Exception {
    driver.connect(0);
    driver.connect(1);
    server.freeze();
    AtomicInteger failed = new AtomicInteger();
    for (int i = 0; i < MANY; i++) {
      Asked.of(driver.first(), NodeSet.of(0), failed::incrementAndGet, COUNT);
    }
    driver.first().disconnect(0);
    CompletableFuture<Void> other = new CompletableFuture<>();
    Asked.of(driver.first(), NodeSet.of(1), () -> other.complete(null), COUNT);

    assertThat(other).succeedsWithin(2, SECONDS);
    soon().untilAsserted(() -> assertThat(failed).hasValue(MANY));
  }

  @Test
  void commandToADisconnectedNodeIsNotSentLater() throws Exception {
    AtomicInteger ends = driver.connect(0);
    server.kill();
    soon().until(() -> ends.get() == 1);
    assertThat(Asked.of(driver.first(), COUNT).failure()).isNotNull();

    server.restart();
    driver.connect(0);
    assertThat(Asked.of(driver.first(), COUNT).reply()).isEqualTo(1L);
  }

  /** Half of the rounds are submitted by the driver's own thread, in the midst of the others. */
  @Test
  void aNodeGetsTheRoundsInTheOrderInWhichTheyWereSubmitted() throws Exception {
    for (int node = 0; node < 3; node++) {
      driver.connect(node);
    }
    int rounds = 4_000;
    AtomicInteger answers = new AtomicInteger();
    for (int i = 0; i < rounds; i += 2) {
      String second = Integer.toString(i + 1);
      CompletableFuture<Asked> next = new CompletableFuture<>();
      AtomicInteger first = new AtomicInteger();
      Runnable askNext =
          () -> {
            if (first.getAndIncrement() == 0) {
              next.complete(
                  Asked.of(
                      driver.first(), NodeSet.all(3), answers::incrementAndGet, APPEND, second));
            }
          };
      Asked.of(driver.first(), NodeSet.all(3), askNext, APPEND, Integer.toString(i));
      next.get(10, SECONDS);
    }
    soon().until(() -> answers.get() == 3 * rounds / 2);

    List<String> inOrder = IntStream.range(0, rounds).mapToObj(Integer::toString).toList();
    for (TestNode node : servers.all()) {
      assertThat(node.command("LRANGE", "the-key", "0", "-1")).isEqualTo(inOrder);
    }
  }

  @Test
  void unansweredCommandsOfADroppedNodeFailOnce() throws Exception {
    Connection connection = new Connection();
    server.freeze();
    connection.ask(3_000);

    driver.first().disconnect(0);

    connection.assertThatAllFailedOnceBeforeItsEnd();
    server.thaw();
    driver.connect(0);
    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
  }

  @Test
  void unansweredCommandsOfAKilledServerFailOnce() throws Exception {
    Connection connection = new Connection();
    server.freeze();
    connection.ask(3_000);

    server.kill();

    connection.assertThatAllFailedOnceBeforeItsEnd();
    server.restart();
    driver.connect(0);
    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
  }

  @Test
  void commandSentAsTheServerEndsTheConnectionIsAnsweredOrFailsOnce() throws Exception {
    Connection connection = new Connection();
    connection.ask(100);
    server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    connection.ask(100);

    connection.assertThatAllWereAnsweredOnce();
    driver.connect(0);
    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
  }

  @Test
  void closingLeavesNoConnectionThatWasJustBegun() {
    String[] uris = servers.uris().toArray(String[]::new);
    List<Driver> closed = new ArrayList<>();
    for (int time = 0; time < CLOSED_AT_ONCE; time++) {
      Driver brief = over(uris);
      closed.add(brief);
      for (int node = 0; node < uris.length; node++) {
        brief.first().connect(node, () -> {});
        brief.nodes().subscribe(node, new Subscription("c", (channel, text) -> {}));
      }
      LockSupport.parkNanos(time * LATER_NANOS); // at another step of connecting each time
      brief.nodes().close();
    }

    for (Driver brief : closed) {
      servers.all().forEach(node -> soon().until(() -> brief.connectionsInUse(node) == 0));
    }
    closed.forEach(Driver::close);
  }

  @Test
  void commandAfterCloseFails() throws Exception {
    AtomicInteger ends = driver.connect(0);
    driver.nodes().close();
    soon().until(() -> ends.get() == 1);
    assertThat(Asked.of(driver.first(), COUNT).failure()).isNotNull();
    assertThatThrownBy(() -> driver.connect(0)).isNotNull();
    driver.nodes().close();
    assertThat(ends).hasValue(1);
  }

  @Test
  void othersMaySubmitWhileARoundIsAnswered() throws Exception {
    driver.connect(0);
    requireThatOthersMaySubmitWhileARoundIsAnswered();
    driver.nodes().close();
    requireThatOthersMaySubmitWhileARoundIsAnswered();
  }

  private void requireThatOthersMaySubmitWhileARoundIsAnswered() throws Exception {
    CompletableFuture<Boolean> submitted = new CompletableFuture<>();
    Runnable untilAnotherHas =
        () ->
            submitted.complete(
                CompletableFuture.runAsync(() -> Asked.of(driver.first(), COUNT))
                    .orTimeout(5, SECONDS)
                    .handle((done, failure) -> failure == null)
                    .join());
    Asked.of(driver.first(), NodeSet.of(0), untilAnotherHas, COUNT);
    assertThat(submitted.get(10, SECONDS)).isTrue();
  }

  @Test
  void commandBeforeCloseIsStillSent() throws Exception {
    driver.connect(0);
    for (int i = 0; i < 100; i++) {
      Asked.of(driver.first(), COUNT);
    }
    driver.nodes().close();
    soon().until(() -> "100".equals(server.command("GET", "the-key")));
  }

  @Test
  void aNodeThatIsNotThereIsNotConnected() throws Exception {
    server.kill();
    AtomicInteger ends = new AtomicInteger();
    assertThatThrownBy(() -> driver.connect(0, ends::incrementAndGet))
        .rootCause()
        .hasMessageContaining("refused");
    assertThat(ends).hasValue(0);
    assertThat(Asked.of(driver.first(), COUNT).failure()).hasMessage("not connected");
  }

  @Test
  void anAttemptThatIsDroppedFailsThoughTheNodeAnswersLater() throws Exception {
    server.freeze();
    AtomicInteger ends = new AtomicInteger();
    CompletableFuture<Void> attempt = driver.first().connect(0, ends::incrementAndGet);
    driver.first().disconnect(0);
    server.thaw();
    assertThatThrownBy(() -> attempt.get(10, SECONDS)).isNotNull();
    soon().until(() -> driver.connectionsInUse(server) == 0);
    assertThat(ends).hasValue(0);
  }

  @Test
  void theSecondConnectionToANodeIsOneOfItsOwn() throws Exception {
    RedisConnections second = driver.nodes().second();
    AtomicInteger ends = driver.connect(0);
    AtomicInteger endsOfSecond = driver.connectSecond(0);
    assertThat(Connections.to(server)).isEqualTo(2);

    assertThat(Asked.of(driver.first(), COUNT).reply()).isEqualTo(1L);
    assertThat(Asked.of(second, COUNT).reply()).isEqualTo(2L);

    second.disconnect(0);
    soon().until(() -> endsOfSecond.get() == 1);
    assertThat(Asked.of(driver.first(), COUNT).reply()).isEqualTo(3L);
    assertThat(Asked.of(second, COUNT).failure()).hasMessage("not connected");
    assertThat(ends).hasValue(0);
  }

  /** A connection to the first node, what was asked on it, and what was answered at its end. */
  private final class Connection {
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final List<Asked> openAtItsEnd = new CopyOnWriteArrayList<>();
    private final AtomicInteger ends = new AtomicInteger();

    Connection() throws Exception {
      driver.connect(0, this::ended);
    }

    private void ended() {
      asked.stream().filter(one -> one.answers().isEmpty()).forEach(openAtItsEnd::add);
      ends.incrementAndGet();
    }

    void ask(int rounds) {
      for (int i = 0; i < rounds; i++) {
        asked.add(Asked.of(driver.first(), "return 1"));
      }
    }

    void assertThatAllFailedOnceBeforeItsEnd() {
      assertThatAllWereAnsweredOnce();
      assertThat(asked).allSatisfy(one -> assertThat(one.failure()).isNotNull());
      assertThat(openAtItsEnd).isEmpty();
    }

    void assertThatAllWereAnsweredOnce() {
      soon().until(() -> ends.get() > 0);
      soon().until(() -> asked.stream().noneMatch(one -> one.answers().isEmpty()));
      assertThat(asked).allSatisfy(one -> assertThat(one.answers()).hasSize(1));
      assertThat(ends).hasValue(1);
    }
  }
}
