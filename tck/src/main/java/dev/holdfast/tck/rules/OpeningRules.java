package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An application starts while something is wrong with its nodes. */
public abstract class OpeningRules {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  /** Enough for errors that reach a manager in any order. */
  private static final int OPENINGS = 8;

  /** A name that no server of names has to be asked about: its parts end at 63 bytes (RFC 1035). */
  private static final String NO_HOST = "no-host" + "-at-all".repeat(9) + ".invalid";

  /** The same for a name that resembles that of a node on this machine. */
  private static final String RESEMBLING = "localhost" + "_".repeat(64) + ":";

  final TckFixture fixture;

  public OpeningRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("OPEN-8")
  @IfThisFails("check that ACL LOG names no command: all that is sent is in docs/acl.md")
  void aUserNeedsNoOtherRightsThanThoseListed() throws Exception {
    Needs.of(fixture, TckFault.LEAST_RIGHTS);
    // As the drivers of Redlock do, whose commands are listed. It sends nothing.
    Needs.option(fixture, "restartGuard", "on", "connect=lazy").close();
    Faults.begin(fixture, TckFault.LEAST_RIGHTS, fixture.nodes(), "");
    String[] options = {"restartGuard=on", GuardRules.TRUSTING, TckFixture.NO_OUTAGE};
    LockManager locks = fixture.open(options);
    LockManager other = fixture.open(options);
    Lease lease = fixture.take(locks, fixture.name("least"), fixture.ttl());

    assertThat(other.tryAcquire(lease.name(), fixture.ttl())).as("a grant to another").isEmpty();
    if (fixture.declares(LockCapability.EXTENSION)) {
      lease.extend(fixture.ttl());
    }
    if (fixture.declares(LockCapability.INSPECTION)) {
      assertThat(other.inspect(lease.name())).isPresent();
    }
    if (fixture.declares(LockCapability.TRANSFER)) {
      lease = other.adopt(lease.transfer(fixture.ttl()), fixture.request(lease.name()));
    }
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(lease.name()).waitForever());
    assertThat(lease.release()).as("a release of what was held").isTrue();
    assertThat(waiter).succeedsWithin(fixture.timing().soon());
    if (fixture.declares(LockCapability.FORCE_RELEASE)) {
      assertThat(other.forceRelease(lease.name())).isTrue();
    }
    assertThat(locks.ping(fixture.timing().soon())).as("a ping").isTrue();
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that nodes that are down are connected to once they are there")
  void aMinorityThatIsDownIsUsedOnceItIsThere() {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    Faults.begin(fixture, TckFault.DEAD, fixture.minority(), "");

    LockManager locks = fixture.open();

    fixture.take(locks, fixture.name("early"), fixture.ttl());
    Faults.end(TckFault.DEAD, fixture.minority(), "");
    Attempts.awaitVotes(fixture, locks, fixture.minority());
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that a host whose address is not known is a node that is down")
  void aMinorityWhoseHostsAreUnknownIsDown() throws InterruptedException {
    Needs.nodes(fixture, 3);
    List<String> uris = new ArrayList<>(Needs.plainUris(fixture));
    for (int i = 0; i < fixture.minority().size(); i++) {
      uris.set(i, "redis://" + NO_HOST + ":" + (7001 + i));
    }
    for (String[] options : new String[][] {{}, {"connect=lazy"}}) {
      LockManager locks = fixture.openOn(uris, options);

      Retries.anyOf(
          () -> assertThat(fixture.gets(locks, fixture.name("early"))).as("a grant").isTrue());
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-1")
  @IfThisFails("check that a host is looked up as the URI has it: no character is dropped")
  void aHostThatOnlyResemblesANodeIsNotThatNode() {
    Needs.nodes(fixture, 3);
    List<String> uris = new ArrayList<>(Needs.plainUris(fixture));
    List<TckNode> nodes = fixture.nodes().subList(0, fixture.minority().size());
    for (int i = 0; i < nodes.size(); i++) {
      URI node = URI.create(uris.get(i));
      if (!"127.0.0.1".equals(node.getHost())) {
        abort("the nodes of this environment have no other name that is known");
      }
      uris.set(i, uris.get(i).replace("127.0.0.1:" + node.getPort(), RESEMBLING + node.getPort()));
    }
    LockManager locks = fixture.openOn(uris);

    Lease lease = fixture.take(locks, fixture.name("held"), fixture.ttl());

    assertThat(Attempts.stays(() -> OnNodes.isFree(nodes, lease.name())))
        .as("nodes of other hosts have no key of %s", lease.name())
        .isTrue();
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that opening does not wait for nodes that hang when there is a quorum")
  void aMinorityThatHangsIsUsedOnceItAnswers() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");

    Call<LockManager> opening = Call.begin(() -> fixture.open("connectTimeout=10s"));

    LockManager locks = opened(opening);
    assertThat(opening.took()).isLessThan(Duration.ofSeconds(5));
    fixture.take(locks, fixture.name("early"), fixture.ttl());
    Faults.end(TckFault.FROZEN, fixture.minority(), "");
    Attempts.awaitVotes(fixture, locks, fixture.minority());
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that a node that is down is logged, by java.lang.System.Logger")
  void aMinorityThatIsDownIsLogged() {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      Faults.begin(fixture, TckFault.DEAD, fixture.minority(), "");

      fixture.open();

      fixture
          .soon()
          .untilAsserted(
              () ->
                  assertThat(fixture.minority())
                      .allSatisfy(
                          node ->
                              assertThat(logs.lines())
                                  .anyMatch(line -> line.contains(node.address()))));
    }
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that opening without a quorum fails in time, with all nodes that are missing")
  void withoutAQuorumOpeningFailsAndNamesEachNode() {
    Needs.of(fixture, TckFault.DEAD, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    List<TckNode> dead = fixture.blocking().subList(1, fixture.blocking().size());
    Faults.begin(fixture, TckFault.DEAD, dead, "");
    Faults.begin(fixture, TckFault.FROZEN, fixture.node(0), "");

    assertFailsInTime(fixture.blocking());
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that opening fails in time when no node answers")
  void withNodesThatAllHangOpeningFailsAndNamesEachNode() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");

    assertFailsInTime(fixture.nodes());
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that servers are distinguished by their identity, not by their addresses")
  void theSameServerListedTwiceIsAMistake() {
    Needs.nodes(fixture, 2);
    List<String> uris = fixture.uris();
    uris.set(0, aliasOf(fixture.node(1)));

    for (int i = 0; i < 3; i++) {
      assertMistake(() -> fixture.openOn(uris), fixture.node(1));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that a manager that connects later looks for the same mistakes")
  void theSameServerListedTwiceNeverVotesTwice() throws InterruptedException {
    Needs.nodes(fixture, 2);
    List<String> uris =
        List.of(aliasOf(fixture.node(0)), fixture.node(0).uri(), fixture.node(1).uri());
    String name = fixture.name("voted-twice");
    fixture.node(1).occupy(name, "another owner", fixture.foreignTtl());

    LockManager locks = fixture.openOn(uris, "connect=lazy");

    assertThat(fixture.gets(locks, name)).isFalse();
    assertThat(fixture.gets(locks, name)).as("when it is connected").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that a node is asked whether it is a master")
  void aReplicaIsAMistake() {
    Needs.of(fixture, TckFault.REPLICA);
    Needs.nodes(fixture, 2);
    Faults.begin(fixture, TckFault.REPLICA, fixture.node(1), "");

    assertMistake(fixture::open, fixture.node(1));
  }

  @Test
  @Rule("OPEN-3")
  @IfThisFails("check that nodes are asked for their maxmemory-policy, and the log of warnings")
  void aNodeThatCanEvictLocksIsWarnedOf() {
    Needs.of(fixture, TckFault.EVICTING);
    Faults.begin(fixture, TckFault.EVICTING, fixture.node(0), "");
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      fixture.open();

      fixture
          .soon()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .anyMatch(
                          line ->
                              line.contains(fixture.node(0).address())
                                  && line.contains("maxmemory-policy")));
    }
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that connect=lazy needs no node before the first request")
  void aLazyManagerOpensThoughNoNodeIsUp() {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 2);
    Faults.begin(fixture, TckFault.DEAD, fixture.nodes(), "");

    LockManager locks = fixture.open("connect=lazy", "nodeTimeout=300ms");

    Faults.end(TckFault.DEAD, fixture.nodes(), "");
    Attempts.awaitVotes(fixture, locks, fixture.nodes());
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that opening with connect=lazy connects to nothing")
  void aLazyManagerThatIsNotUsedConnectsToNothing() {
    needsConnections();
    Retries.anyOf( // others may still be connecting to nodes that a test has brought back
        () -> {
          int before = Counts.connections(fixture);
          long requests = Counts.requests(fixture);

          LockManager locks = fixture.open("connect=lazy");

          assertThat(locks.capabilities()).isEqualTo(fixture.capabilities());
          assertThat(Attempts.stays(() -> Counts.connections(fixture) <= before))
              .as("no connection")
              .isTrue();
          assertThat(Counts.requests(fixture) - requests).as("requests to nodes").isZero();
        });
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that opening with connect=lazy makes no connection, not even to end it")
  void aLazyManagerMakesNoConnectionBeforeItsFirstRequest() {
    Needs.nodes(fixture, 1);
    Needs.nodeOptions(fixture);
    List<TckLink> links = Needs.links(fixture);
    if (links.stream().anyMatch(link -> link.connections().isEmpty())) {
      abort("this environment's links do not count connections");
    }

    LockManager locks = fixture.openOn(Needs.uris(links), "connect=lazy");

    assertThat(Attempts.stays(() -> made(links) == 0))
        .as("no connection was made before the first request, but %d were", made(links))
        .isTrue();
    fixture.take(locks, fixture.name("first"), fixture.ttl());
    assertThat(made(links)).as("connections after the first request").isPositive();
  }

  private static int made(List<TckLink> links) {
    return links.stream().mapToInt(link -> link.connections().orElse(0)).sum();
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that the first request waits for the connections that it has made")
  void theFirstLockOfALazyManagerIsGrantedAtOnce() throws InterruptedException {
    needsConnections();

    assertThat(fixture.gets(fixture.open("connect=lazy"), fixture.name("first"))).isTrue();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that the error of each node is its own, also of nodes on one host")
  void nodesThatRefuseLoginsBesideOneThatIsGoneAreAMistake() {
    Needs.of(fixture, TckFault.DEAD, TckFault.LOGIN_NEEDED);
    Needs.nodes(fixture, 3);
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");
    if (!(catchThrowable(fixture::open) instanceof LockConfigurationException)) {
      abort("a manager that is opened needs no login");
    }
    List<TckNode> gone = fixture.minority();
    Faults.begin(fixture, TckFault.DEAD, gone, "");

    for (int i = 0; i < OPENINGS; i++) {
      assertThat(catchThrowable(fixture::open))
          .isInstanceOf(LockConfigurationException.class)
          .message()
          .containsPattern(
              fixture.nodesBut(gone).stream()
                  .map(node -> Pattern.quote(node.address()))
                  .collect(Collectors.joining("|")));
    }
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that the exception of a refused login begins with the node's error")
  void aPasswordThatNodesRefuseIsAMistake() throws InterruptedException {
    Needs.of(fixture, TckFault.LOGIN_NEEDED);
    List<String> uris = OnNodes.withAnotherPassword(OnNodes.urisWithPassword(fixture));
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");

    Optional<LockException> thrown = Optional.empty();
    try {
      fixture.openOn(uris).tryAcquire(fixture.name("asked"), fixture.ttl());
    } catch (LockException e) {
      thrown = Optional.of(e);
    }

    assertThat(thrown)
        .as("thrown where each node refuses the password")
        .containsInstanceOf(LockConfigurationException.class);
  }

  private static String aliasOf(TckNode node) {
    return node.alias().orElseGet(() -> abort("this environment's nodes have one name each"));
  }

  private void needsConnections() {
    Needs.nodes(fixture, 2);
    Counts.needsConnections(fixture);
  }

  private LockManager opened(Call<LockManager> opening) {
    opening.awaited(fixture);
    return opening.result().orElseThrow(() -> new AssertionError("not opened: " + opening));
  }

  /**
   * Asserts that at least one of several calls fails in time. A busy machine may delay one of them,
   * but a manager that ignores its timeout delays all.
   */
  private void assertFailsInTime(List<TckNode> missing) {
    Retries.anyOf(() -> assertFailsInTimeOnce(missing));
  }

  private void assertFailsInTimeOnce(List<TckNode> missing) {
    try (Stalls stalls = Stalls.watched()) {
      Call<LockManager> opening =
          Call.begin(() -> fixture.open("connectTimeout=" + CONNECT_TIMEOUT.toMillis() + "ms"));

      List<String> addresses = missing.stream().map(TckNode::address).toList();
      assertThat(opening.awaited(fixture).thrown())
          .get(InstanceOfAssertFactories.type(LockOutageException.class))
          .satisfies(outage -> assertThat(outage.failures()).containsOnlyKeys(addresses))
          .satisfies(
              outage ->
                  assertThat(outage).hasMessageContainingAll(addresses.toArray(String[]::new)));
      assertThat(opening.took())
          .isLessThan(CONNECT_TIMEOUT.plus(fixture.allowance()).plus(stalls.worst()));
    }
  }

  /** Checks an opening, again if it succeeds: a node that connects late is looked at later. */
  private static void assertMistake(Supplier<LockManager> opening, TckNode node) {
    Retries.anyOf(
        () ->
            assertThatThrownBy(() -> opening.get().close())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(node.address()));
  }
}
