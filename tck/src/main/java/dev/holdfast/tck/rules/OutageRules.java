package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Outages follow one another, and after each of them all is as before. */
public abstract class OutageRules {
  /** More than a state that counts to three needs. */
  private static final int OUTAGES = 5;

  /** More than a circuit breaker counts, mostly ten at most. */
  private static final int MANY_OUTAGES = 12;

  /** More ends of connections than a circuit breaker counts. */
  private static final int ENDS = 17;

  /** Shorter than a circuit breaker stays open, and longer than a few attempts. */
  private static final Duration PROMPTLY = Duration.ofMillis(900);

  /** More than a circuit breaker counts, for commands that fail at the same time. */
  private static final int COMMANDS = 64;

  /** Longer than it takes to connect, which is tried every second, and to be voted for. */
  private static final Duration BACK = Duration.ofSeconds(8);

  private static final List<AskingWay> ASKED =
      List.of(
          AskingWay.TRY_ACQUIRE,
          AskingWay.ACQUIRE,
          AskingWay.TRY_ACQUIRE_ASYNC,
          AskingWay.CALL_LOCKED,
          AskingWay.TRY_EXECUTE_LOCKED);

  private static final Duration WAIT = Duration.ofSeconds(1);

  /** Longer than an attempt takes, and shorter than a second wait. */
  private static final Duration LATE = Duration.ofMillis(900);

  private static final String HASTY = "nodeTimeout=80ms";

  /** Longer than an attempt waits for an answer. */
  private static final Duration SILENCE = Duration.ofMillis(130);

  /** Above the number of attempts to connect after which clients give up, mostly ten at most. */
  private static final int FAILED_CONNECTS = 11;

  /** Much longer than an attempt to connect, and the second until the next one. */
  private static final Duration VOTES_WITHIN = Duration.ofSeconds(8);

  /** Longer than three tries to connect take. */
  private static final Duration SEVERAL_LOGINS = Duration.ofSeconds(3);

  /** Longer than the retry delay and an attempt that is answered. */
  private static final Duration BETWEEN = Duration.ofMillis(60);

  final TckFixture fixture;

  public OutageRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that nodes are used again after each outage, and not after the first alone")
  void nodesVoteAgainAfterEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), "");
      Throwable thrown =
          catchThrowable(() -> locks.tryAcquire(fixture.name("outage"), fixture.ttl()));
      Faults.end(TckFault.FROZEN, fixture.blocking(), "");
      if (!(thrown instanceof LockOutageException)) {
        AnotherRule.isBroken("an outage is reported as " + thrown);
      }

      Attempts.awaitVotes(fixture, locks, fixture.nodes());
    }
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that many commands that fail together, with their connection, are one fault")
  void aNodeWhoseConnectionEndedUnderManyCommandsVotesSoonAgain() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open();
    OnNodes.take(fixture, locks, fixture.name("before"), fixture.ttl());
    Needs.nodesShown(fixture, locks);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    for (int i = 0; i < COMMANDS; i++) {
      Attempts.answered(fixture, locks.tryAcquireAsync(fixture.request(fixture.name("many"))));
    }
    fixture.awaitRegardless(
        "the silent connection is given up",
        () -> {
          TckFixture.regardless(() -> locks.ping(Duration.ofMillis(50)));
          return locks.nodes().stream().anyMatch(node -> node.state() == LockNode.State.DOWN);
        });

    try (Stalls stalls = Stalls.watched()) {
      Faults.end(TckFault.FROZEN, fixture.minority(), "");
      long back = System.nanoTime();
      Attempts.awaitVotes(fixture, locks, fixture.minority());

      assertThat(Elapsed.since(back))
          .as("time until nodes vote again that answer")
          .isLessThan(BACK.plus(stalls.worst()));
    }
  }

  /**
   * Checks requests after many outages. The nodes answer all the time, so that the manager need not
   * reconnect.
   */
  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that each request asks the nodes, however many before it ended in an outage")
  void nodesAreAskedRightAfterManyOutages() {
    LockManager locks = openOnNodesThatCanRefuse();
    Retries.anyOf(
        () -> {
          Faults.begin(fixture, TckFault.REFUSING, fixture.blocking(), "");
          for (int i = 0; i < MANY_OUTAGES; i++) {
            Attempts.once(locks, fixture.name("during"), fixture.ttl());
          }
          Faults.end(TckFault.REFUSING, fixture.blocking(), "");

          long begun = System.nanoTime();
          boolean isGranted = false;
          while (!isGranted && Elapsed.since(begun).compareTo(PROMPTLY) < 0) {
            isGranted = Attempts.once(locks, fixture.name("after"), fixture.ttl()).isPresent();
          }
          assertThat(isGranted).as("a lock was granted once the nodes had recovered").isTrue();
        });
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that no node is left out for longer because its connections ended often")
  void nodesVoteAgainHoweverOftenTheirConnectionsEnd() {
    Needs.of(fixture, TckFault.CUT);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open();
    for (int i = 0; i < ENDS; i++) {
      Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");

      Attempts.awaitVotes(fixture, locks, fixture.nodes());
    }
  }

  /** Counts the requests of nodes that answer all the time, so that each attempt can ask them. */
  @Test
  @Rule("RES-2")
  @IfThisFails("check that no request reports the outage of an earlier one instead of asking")
  void eachRequestAsksTheNodesHoweverManyOutagesThereWere() throws InterruptedException {
    Counts.needsRequests(fixture);
    LockManager locks = openOnNodesThatCanRefuse();
    Faults.begin(fixture, TckFault.REFUSING, fixture.nodes(), "");
    Attempts.once(locks, fixture.name("first"), fixture.ttl()); // which may bring scripts
    long first = Counts.settledRequests(fixture);
    Attempts.once(locks, fixture.name("second"), fixture.ttl());
    long before = Counts.settledRequests(fixture);
    long ofOne = before - first;
    if (ofOne == 0) {
      abort("the requests of an attempt that is refused are not counted");
    }

    for (int i = 0; i < MANY_OUTAGES; i++) {
      Attempts.once(locks, fixture.name("during"), fixture.ttl());
    }

    assertThat(Counts.settledRequests(fixture) - before)
        .as("the nodes' requests by %d attempts, where one makes %d", MANY_OUTAGES, ofOne)
        .isGreaterThan(MANY_OUTAGES * ofOne * 2 / 3);
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that a request without a wait makes no second attempt after an outage")
  void aRequestWithoutAWaitAsksEachNodeOnceInAnOutage() throws InterruptedException {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(HASTY, "quorumTimeout=200ms");
    EventLog log = new EventLog();
    locks.addListener(log);
    Needs.nodesShown(fixture, locks);
    Attempts.untilGot(fixture, locks, fixture.name("before"));
    List<TckNode> alive = fixture.nodesBut(fixture.blocking());
    fixture.awaitRegardless("votes are reported", () -> !votesOf(alive, log).contains(0L));
    if (votesOf(alive, log).contains(0L)) {
      AnotherRule.isBroken("votes are not reported");
    }
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), "");

    for (Asking asking : Asking.values()) {
      Retries.anyOf(() -> assertAsksOnce(asking, locks, alive, log));
    }
  }

  /**
   * Tries whether one request has one vote of each node. A machine that stalls reports one late.
   */
  private void assertAsksOnce(Asking asking, LockManager locks, List<TckNode> alive, EventLog log) {
    LockRequest request = fixture.request(fixture.name("during")).waitAtMost(Duration.ZERO);
    fixture.awaitPast(System.nanoTime(), Attempts.LOOK); // so that no vote is still to come
    List<Long> before = votesOf(alive, log);
    TckFixture.regardless(() -> asking.ask(locks, request));
    fixture.awaitPast(System.nanoTime(), Attempts.LOOK);
    List<Long> after = votesOf(alive, log);

    for (int node = 0; node < alive.size(); node++) {
      assertThat(after.get(node) - before.get(node))
          .as("the votes of %s on one attempt by %s", alive.get(node).address(), asking)
          .isLessThanOrEqualTo(1);
    }
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails("check that each node is connected by itself: one that hangs holds up no other")
  void aNodeThatHangsHoldsUpNoNewConnectionToOthers() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    List<TckLink> links = Needs.links(fixture);
    LockManager locks = fixture.openOn(Needs.uris(links), "connectTimeout=10s");
    Attempts.untilGot(fixture, locks, fixture.name("before"));
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    links.forEach(TckLink::cut);

    links.forEach(TckLink::mend); // new connections to nodes that hang are not answered

    long begun = System.nanoTime();
    Attempts.untilGot(fixture, locks, fixture.name("after"));
    assertThat(Elapsed.since(begun))
        .as("the time until a quorum is connected again")
        .isLessThan(Duration.ofSeconds(5));
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that the error of a node that became a replica arrives as it is: READONLY")
  void nodesThatBecameReplicasAreAMistake() throws InterruptedException {
    Needs.of(fixture, TckFault.REPLICA);
    LockManager locks = fixture.open();
    Attempts.untilGot(fixture, locks, fixture.name("before"));
    Faults.begin(fixture, TckFault.REPLICA, fixture.blocking(), "");

    Throwable thrown =
        catchThrowable(() -> locks.tryAcquire(fixture.name("during"), fixture.ttl()));

    assertThat(thrown).isInstanceOf(LockConfigurationException.class);
  }

  private static List<Long> votesOf(List<TckNode> nodes, EventLog log) {
    return nodes.stream()
        .map(
            node ->
                log.about(node.address()).stream().filter(text -> text.startsWith("vote")).count())
        .toList();
  }

  @Test
  @Rule("WAIT-1")
  @IfThisFails("check that nothing asks again once a wait has ended in an outage")
  void aWaitThatEndsInAnOutageEndsInTime() {
    LockManager locks = openOnNodesThatCanRefuse();
    Faults.begin(fixture, TckFault.REFUSING, fixture.blocking(), "");
    for (AskingWay way : ASKED) {
      Retries.anyOf(
          () -> {
            LockRequest request = fixture.request(fixture.name("during")).waitAtMost(WAIT);
            long begun = System.nanoTime();
            TckFixture.regardless(() -> way.hold(locks, request, lease -> {}));

            assertThat(Elapsed.since(begun))
                .as("the time of %s with a wait of %s while nodes refuse", way, WAIT)
                .isLessThan(WAIT.plus(LATE));
          });
    }
  }

  /**
   * Checks that nodes vote again after many failed connections. One node ends each connection, one
   * hangs, and the others are not there.
   */
  @Test
  @Rule("FAULT-3")
  @IfThisFails(
      "check that no attempt to connect is the last one, in whatever way the attempts fail")
  void nodesThatCouldNotBeConnectedManyTimesVoteAgain() {
    Needs.of(fixture, TckFault.FROZEN, TckFault.DEAD);
    Needs.nodeOptions(fixture);
    Needs.nodes(fixture, 3);
    TckLink link = Needs.link(fixture, fixture.node(0));
    needsConnections(link);
    List<TckNode> gone = fixture.nodes().subList(2, fixture.nodes().size());
    LockManager connected = openBehind(link);
    LockManager neverConnected = openBehind(link);
    Attempts.untilGot(fixture, connected, fixture.name("before"));
    link.cut();
    Faults.begin(fixture, TckFault.FROZEN, fixture.node(1), "");
    Faults.begin(fixture, TckFault.DEAD, gone, "");
    int before = link.connections().orElse(0);

    long begun = System.nanoTime();
    fixture.awaitRegardless(
        "it is tried again and again",
        () -> {
          for (LockManager locks : List.of(connected, neverConnected)) {
            Attempts.once(locks, fixture.name("during"), fixture.ttl());
          }
          LockSupport.parkNanos(BETWEEN.toNanos());
          return link.connections().orElse(0) - before > 2 * FAILED_CONNECTS;
        });
    int tries = link.connections().orElse(0) - before;
    if (tries > 0) { // a link may refuse connections, which are not made then
      assertThat(tries)
          .as("tries of two managers to connect, each of which tries every second")
          .isGreaterThanOrEqualTo((int) Elapsed.since(begun).toSeconds());
    }
    link.mend();
    Faults.end(TckFault.FROZEN, List.of(fixture.node(1)), "");
    Faults.end(TckFault.DEAD, gone, "");

    assertAllVoteSoon(List.of(connected, neverConnected));
  }

  private void assertAllVoteSoon(List<LockManager> managers) {
    try (Stalls stalls = Stalls.watched()) {
      long begun = System.nanoTime();
      managers.forEach(locks -> Attempts.awaitVotes(fixture, locks, fixture.nodes()));
      assertThat(Elapsed.since(begun))
          .as("the time until all nodes, which are tried every second, have voted again")
          .isLessThan(VOTES_WITHIN.plus(fixture.allowance()).plus(stalls.worst()));
    }
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that the error of the last attempt to connect is reported, not of the first")
  void aMistakeThatFollowsAnOutageIsReportedAsOne() {
    Needs.of(fixture, TckFault.DEAD, TckFault.LOGIN_NEEDED, TckFault.CUT);
    LockManager locks = fixture.open(HASTY);
    Attempts.untilGot(fixture, locks, fixture.name("before"));
    Faults.begin(fixture, TckFault.DEAD, fixture.nodes(), "");
    awaitThrown(locks, LockOutageException.class);

    for (TckNode node : fixture.nodes()) {
      node.end(TckFault.DEAD, "");
      Faults.begin(fixture, TckFault.LOGIN_NEEDED, node, "");
    }
    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), ""); // if one was connected in between
    if (!(catchThrowable(fixture::open) instanceof LockConfigurationException)) {
      abort("a manager that is opened now needs no login");
    }

    assertThat(awaitThrown(locks, LockConfigurationException.class))
        .as("the exception of a request while all nodes need a login")
        .isInstanceOf(LockConfigurationException.class);
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that a node which refused logins is tried again like any other")
  void aNodeThatRefusedLoginsIsUsedAgain() {
    Needs.of(fixture, TckFault.LOGIN_NEEDED, TckFault.CUT);
    List<String> uris = OnNodes.withAnotherPassword(OnNodes.urisWithPassword(fixture));
    List<LockManager> managers = new ArrayList<>(List.of(fixture.open(HASTY)));
    try {
      LockManager withAnother = fixture.openOn(uris, HASTY, "connect=lazy");
      fixture.take(withAnother, fixture.name("first"), fixture.ttl());
      managers.add(withAnother);
    } catch (LockConfigurationException refused) { // by nodes that need no login
      IgnoredFailures.add(refused);
    }
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");
    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");
    long begun = System.nanoTime();
    managers.forEach(locks -> awaitThrown(locks, LockConfigurationException.class));
    fixture.awaitPast(begun, SEVERAL_LOGINS);

    Faults.end(TckFault.LOGIN_NEEDED, fixture.nodes(), "");

    managers.forEach(locks -> Attempts.awaitVotes(fixture, locks, fixture.nodes()));
  }

  /** Returns the exception of the last request, of this type if there is one soon. */
  private @Nullable Throwable awaitThrown(LockManager locks, Class<? extends Throwable> type) {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    fixture.awaitRegardless(
        "a request ends by " + type.getSimpleName(),
        () -> {
          try {
            thrown.set(null);
            locks.tryAcquire(fixture.request(fixture.name("next")));
          } catch (RuntimeException e) {
            thrown.set(e);
          }
          return type.isInstance(thrown.get());
        });
    return thrown.get();
  }

  /** Opens a manager, and returns it once it gets locks. */
  private LockManager openOnNodesThatCanRefuse() {
    Needs.of(fixture, TckFault.REFUSING);
    LockManager locks = fixture.open();
    Attempts.untilGot(fixture, locks, fixture.name("before"));
    return locks;
  }

  /** Opens a manager that reaches the first node by a link, and tries to connect each second. */
  private LockManager openBehind(TckLink link) {
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    return fixture.openOn(uris, HASTY, "quorumTimeout=1s", "connect=lazy", "connectTimeout=800ms");
  }

  private static void needsConnections(TckLink link) {
    if (link.connections().isEmpty()) {
      abort("this environment's links do not count connections");
    }
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that each attempt is judged by its own answers, and by no earlier refusal")
  void silenceAfterARefusalIsAnOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY, "quorumTimeout=1s");
    LockManager holder = fixture.open();
    Throwable[] thrown = new Throwable[1];

    Retries.anyOf( // a hasty manager takes a machine that stalls for silence
        () -> {
          String name = fixture.name("refused-before");
          fixture.take(holder, name, fixture.ttl());
          if (locks.tryAcquire(name, fixture.ttl()).isPresent()) {
            AnotherRule.isBroken("two owners have the lock");
          }
          Faults.whileFrozen(
              fixture,
              fixture.blocking(),
              () -> thrown[0] = catchThrowable(() -> locks.tryAcquire(name, fixture.ttl())));
        });

    assertThat(thrown[0])
        .as("the end of an attempt that no quorum answers")
        .isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release reaches nodes that come back, also after earlier outages")
  void aReleaseIsDoneAfterEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    for (int i = 0; i < OUTAGES; i++) {
      Lease lease = OnNodes.take(fixture, locks, fixture.name("released"), fixture.ttl());
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
      TckFixture.regardless(lease::release);
      Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());

      OnNodes.awaitFree(fixture, lease.name());
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a waiter goes on after each outage, and makes its next attempt")
  void aWaiterGetsTheLockAfterSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    Contender contender = Contender.holding(fixture, fixture.name("busy"));
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(contender.name()).waitForever());
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), contender.name());
      fixture.awaitPast(System.nanoTime(), SILENCE);
      Faults.end(TckFault.FROZEN, fixture.blocking(), contender.name());
      fixture.awaitPast(System.nanoTime(), BETWEEN);
    }
    if (waiter.isDone()) {
      AnotherRule.isBroken("a wait without a limit is over before its lock is free");
    }

    contender.letGo();

    Optional<Lease> lease = fixture.soon().get("the waiter gets the lock", waiter);
    assertThat(lease).as("granted when the lock was free").isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that a lease is extended after each outage of its nodes")
  void aLeaseIsExtendedAfterEachOfSeveralOutages() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    Lease lease = OnNodes.take(fixture, locks, fixture.name("extended"), fixture.ttl());
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());
      if (!lease.isHeld()) {
        AnotherRule.isBroken("an outage is a loss");
      }
      Duration more = fixture.ttl().plusMillis(500L * (i + 1));

      fixture
          .soon()
          .until(
              "it is extended after an outage",
              () -> catchThrowable(() -> lease.extend(more)) == null);
    }
  }

  @Test
  @Rule("NODES-2")
  @IfThisFails("check that nodes() shows each outage, and its end")
  void nodesAreShownAsTheyAreInEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open("nodeTimeout=100ms");
    for (int i = 0; i < 3; i++) {
      Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), "");
      awaitDown(locks, true);
      Faults.end(TckFault.DEAD, fixture.blocking(), "");
      awaitDown(locks, false);
    }
  }

  private void awaitDown(LockManager locks, boolean isDown) {
    fixture
        .soon()
        .until(
            isDown ? "a node is shown as down" : "no node is shown as down",
            () -> {
              TckFixture.regardless(() -> locks.tryAcquire(fixture.name("asks"), fixture.ttl()));
              return isDown
                  == locks.nodes().stream().anyMatch(n -> n.state() == LockNode.State.DOWN);
            });
  }
}
