package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A manager shows its nodes and leases, and says whether a lock could be had. */
public abstract class NodeRules {
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** A label of letters beyond ASCII, some of which take two bytes, three or four. */
  private static final String LABEL = "Arbeiter №7, größer 🔒";

  final TckFixture fixture;

  public NodeRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("NODES-1")
  @IfThisFails("check that nodes() and leases() show what is known, and send nothing")
  void nodesAreShownWithoutAQuestion() throws Exception {
    Counts.needsRequests(fixture);
    LockManager locks = fixture.open();
    OnNodes.take(fixture, locks, fixture.name("held"), fixture.ttl());
    long before = Counts.settledRequests(fixture);

    for (int i = 0; i < 10; i++) {
      assertThat(locks.nodes()).isNotEmpty();
      assertThat(locks.leases()).isNotEmpty();
    }

    assertThat(Counts.settledRequests(fixture)).isEqualTo(before);
  }

  @Test
  @Rule("NODES-2")
  @IfThisFails("check that each node is shown once, with its address and state")
  void eachNodeIsShown() {
    LockManager locks = fixture.open();
    fixture.take(locks, fixture.name("held"), fixture.ttl());

    fixture
        .soon()
        .untilAsserted(
            () -> assertThat(locks.nodes()).extracting(LockNode::state).contains(State.UP));
    List<LockNode> nodes = locks.nodes();

    if (!fixture.environment().holdsTwoLocks()) {
      assertThat(nodes).extracting(LockNode::address).doesNotHaveDuplicates();
    }
    assertThat(nodes)
        .allSatisfy(node -> assertThat(node.since()).isBefore(Instant.now().plusSeconds(60)));
    if (nodes.size() > 1) {
      assertThat(nodes)
          .extracting(LockNode::address)
          .containsAll(fixture.nodes().stream().map(TckNode::address).toList());
    }
  }

  @Test
  @Rule("NODES-2")
  @IfThisFails("check that a node is shown as down once its end was reported, until its return")
  void nodesThatAreGoneAreShownAsDown() throws Exception {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open("nodeTimeout=100ms", "quorumTimeout=3s");
    EventLog log = new EventLog();
    locks.addListener(log);
    fixture.take(locks, fixture.name("before"), fixture.ttl());
    String name = fixture.name("down");

    Faults.during(
        fixture,
        TckFault.DEAD,
        fixture.blocking(),
        name,
        () -> {
          String down = firstReportedDown(locks, log, name);
          assertThat(locks.nodes())
              .as("nodes() after the report that %s is down", down)
              .anyMatch(node -> node.address().equals(down) && node.state() == State.DOWN);
          fixture
              .soon()
              .until(
                  "all nodes that are gone are shown as down",
                  () -> {
                    TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));
                    return down(locks) == expectedDown(locks);
                  });
        });

    fixture
        .soon()
        .until(
            "no node is shown as down",
            () -> {
              TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));
              return down(locks) == 0;
            });
  }

  /** Looks at nodes() until the first report, so that no list from before has become old. */
  private String firstReportedDown(LockManager locks, EventLog log, String name) {
    CompletableFuture<?> attempt = CompletableFuture.completedFuture(null);
    Optional<String> down = Optional.empty();
    for (long begun = System.nanoTime(); down.isEmpty(); ) {
      if (Elapsed.since(begun).compareTo(fixture.timing().soon()) > 0) {
        AnotherRule.isBroken("no node is reported as down");
      }
      if (attempt.isDone()) {
        attempt = locks.tryAcquireAsync(fixture.request(name));
      }
      assertThat(locks.nodes()).isNotEmpty();
      Attempts.pause();
      down =
          log.events().stream()
              .filter(event -> event.text().equals("node DOWN"))
              .map(EventLog.Event::subject)
              .findFirst();
    }
    return down.get();
  }

  @Test
  @Rule("NODES-5")
  @IfThisFails("check that a node that goes down, and its return, are reported to listeners")
  void changesOfNodesAreReported() throws Exception {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open("nodeTimeout=100ms");
    EventLog log = new EventLog();
    locks.addListener(log);
    fixture.take(locks, fixture.name("before"), fixture.ttl());
    String name = fixture.name("reported");
    AtomicInteger seen = new AtomicInteger(log.events().size());

    Faults.during(
        fixture,
        TckFault.DEAD,
        fixture.blocking(),
        name,
        () -> awaitReported(locks, log, name, "node DOWN", seen));

    awaitReported(locks, log, name, "node UP", seen);
    assertThat(log.events())
        .filteredOn(event -> event.text().startsWith("node "))
        .extracting(EventLog.Event::subject)
        .isSubsetOf(locks.nodes().stream().map(LockNode::address).toList());
  }

  /** Waits for an event behind those that were seen before, and sees all up to it. */
  private void awaitReported(
      LockManager locks, EventLog log, String name, String text, AtomicInteger seen) {
    fixture
        .soon()
        .until(
            text + " is reported",
            () -> {
              TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));
              List<EventLog.Event> events = log.events();
              for (int i = seen.get(); i < events.size(); i++) {
                if (events.get(i).text().equals(text)) {
                  seen.set(i + 1);
                  return true;
                }
              }
              return false;
            });
  }

  /** Returns how many nodes are shown as down. Two locks on one server are one node here. */
  private static long down(LockManager locks) {
    return locks.nodes().stream()
        .filter(node -> node.state() == State.DOWN)
        .map(LockNode::address)
        .distinct()
        .count();
  }

  /** Returns how many nodes are gone, or one for a backend that shows its nodes as one. */
  private long expectedDown(LockManager locks) {
    long shown = locks.nodes().stream().map(LockNode::address).distinct().count();
    return shown == fixture.nodes().size() ? fixture.blocking().size() : 1;
  }

  @Test
  @Rule("NODES-3")
  @IfThisFails("check that leases() shows the locks that are held now, and no others")
  void leasesThatAreHeldAreShown() throws Exception {
    LockManager locks = fixture.open();
    String name = fixture.name("shown");
    fixture.take(fixture.open(), fixture.name("of-another-manager"), fixture.ttl());
    Instant before = Instant.now();
    Lease lease = fixture.take(locks, fixture.request(name).ownerLabel(LABEL));

    HeldLock shown = only(locks);

    assertThat(shown.name()).isEqualTo(name);
    assertThat(shown.ownerLabel()).isEqualTo(LABEL);
    assertThat(shown.remaining()).isPositive().isLessThanOrEqualTo(fixture.ttl());
    assertThat(shown.keptAliveUntil()).isEmpty();
    assertThat(shown.since()).isBetween(before.minus(SECOND), Instant.now().plus(SECOND));
    TckFixture.regardless(lease::release);
    assertThat(locks.leases()).as("after the release").isEmpty();
  }

  @Test
  @Rule("NODES-3")
  @IfThisFails("check that leases() shows no lease that was lost")
  void leasesThatAreOverAreNotShown() {
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, fixture.name("over"), fixture.briefTtl());

    fixture.soon().until("it is shown no more", () -> locks.leases().isEmpty());

    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Rule("NODES-3")
  @IfThisFails("check that leases() shows no lease that was transferred, removed or closed")
  void leasesThatAreNoLongerThisManagersAreNotShown() {
    LockManager locks = fixture.open();
    if (fixture.declares(LockCapability.TRANSFER)) {
      Lease transferred = fixture.take(locks, fixture.name("transferred"), fixture.ttl());
      TransferredLock.text(fixture, transferred, fixture.ttl());
      assertThat(locks.leases()).as("after a transfer").isEmpty();
      Lease inTheBackground = fixture.take(locks, fixture.name("background"), fixture.ttl());
      fixture.soon().get("it is transferred", inTheBackground.transferAsync(fixture.ttl()));
      assertThat(locks.leases()).as("after an asynchronous transfer").isEmpty();
    }
    if (fixture.declares(LockCapability.FORCE_RELEASE)
        && fixture.declares(LockCapability.EXTENSION)) {
      Lease removed = OnNodes.take(fixture, locks, fixture.name("removed"), fixture.ttl());
      TckFixture.regardless(() -> fixture.open().forceRelease(removed.name()));
      TckFixture.regardless(() -> removed.extend(fixture.ttl()));
      assertThat(locks.leases().isEmpty())
          .as("leases() is empty after a loss")
          .isEqualTo(!removed.isHeld());
    }
    fixture.take(locks, fixture.name("open"), fixture.ttl());
    locks.close();
    assertThat(locks.leases()).as("after the end of the manager").isEmpty();
  }

  @Test
  @Rule("NODES-3")
  @IfThisFails("check that leases() has an entry for each lease, and not for each name")
  void leasesOfOneNameAreShownEach() throws InterruptedException {
    Needs.nodes(fixture, 1);
    Needs.oneLock(fixture);
    LockManager locks = fixture.open();
    Lease removed = OnNodes.take(fixture, locks, fixture.request(fixture.name("twice")));
    fixture.nodes().forEach(node -> node.remove(removed.name()));

    Optional<Lease> next = Attempts.once(locks, removed.name(), fixture.ttl());

    if (next.isEmpty() || !removed.isHeld()) {
      abort("a manager refuses what it holds itself, or knows at once of what was removed");
    }
    assertThat(locks.leases())
        .extracting(HeldLock::name)
        .as("the locks of two leases that are held")
        .containsExactly(removed.name(), removed.name());
  }

  private static HeldLock only(LockManager locks) {
    List<HeldLock> held = locks.leases();
    assertThat(held).hasSize(1);
    return held.get(0);
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that ping is true while a quorum answers, also behind a lock that is held")
  void pingIsTrueWhileAQuorumAnswers() {
    LockManager locks = fixture.open();
    fixture.take(locks, LockRequest.of(fixture.name("held"), fixture.ttl()));

    assertThat(Optional.of(locks.ping(Duration.ofSeconds(10)))).contains(true);
    for (Duration timeout : DurationRules.ENDLESS) {
      assertThat(locks.ping(timeout)).as("ping within %s", timeout).isTrue();
    }
    assertThatThrownBy(() -> locks.ping(Duration.ZERO))
        .isInstanceOf(LockConfigurationException.class);
    locks.close();
    assertThatThrownBy(() -> locks.ping(SECOND)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that the answers to a ping change the states that nodes() shows")
  void nodesThatAnswerAPingAreKnown() {
    LockManager locks = fixture.open("connect=lazy");
    assertThat(locks.nodes()).as("nodes() before a ping").isNotEmpty();

    assertThat(Optional.of(locks.ping(Duration.ofSeconds(10)))).contains(true);

    List<LockNode> nodes = locks.nodes();
    assertThat(nodes)
        .filteredOn(node -> node.state() != State.UNKNOWN)
        .hasSizeGreaterThan(nodes.size() / 2);
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that ping is false in time while no quorum answers")
  void pingIsFalseWhileNoQuorumAnswers() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();
    fixture.take(locks, fixture.name("before"), fixture.ttl());
    TckFixture.regardless(() -> locks.ping(SECOND)); // an answer that must not serve again

    Faults.whileFrozen(
        fixture,
        fixture.blocking(),
        () -> {
          long begun = System.nanoTime();
          assertThat(locks.ping(Duration.ofMillis(200))).isFalse();
          assertThat(Elapsed.since(begun)).isLessThan(fixture.timing().soon());
        });

    fixture.soon().until("ping is true again", () -> locks.ping(SECOND));
  }

  @Test
  @Rule("NODES-5")
  @IfThisFails("check that the end of an idle connection is noticed, and not with the next command")
  void theEndOfAnIdleNodeIsReportedWithoutARequest() throws Exception {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open("nodeTimeout=100ms");
    Needs.nodesShown(fixture, locks);
    EventLog log = new EventLog();
    locks.addListener(log);
    fixture.take(locks, fixture.name("before"), fixture.ttl()).close();
    Attempts.stays(() -> true); // no request is in flight any more
    int before = log.events().size();

    Faults.during(
        fixture,
        TckFault.DEAD,
        fixture.blocking(),
        fixture.name("idle"),
        () -> awaitDown(log, before));
  }

  @Test
  @Rule("NODES-5")
  @IfThisFails("check that a connection which is reset ends like one that is closed")
  void theResetOfAnIdleConnectionIsReportedWithoutARequest() {
    Needs.nodes(fixture, 3);
    TckLink link = Needs.link(fixture, fixture.node(0));
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    LockManager locks = fixture.openOn(uris);
    Needs.nodesShown(fixture, locks);
    EventLog log = new EventLog();
    locks.addListener(log);
    Attempts.release(fixture, OnNodes.take(fixture, locks, fixture.request(fixture.name("idle"))));
    Attempts.stays(() -> true); // no request is in flight any more
    int before = log.events().size();

    link.reset();

    awaitDown(log, before);
  }

  @Test
  @Rule("NODES-5")
  @IfThisFails("check that the end of the second connection, for transactions, is noticed as well")
  void theEndOfALaterConnectionIsNoticedWithoutARequest() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    Needs.nodes(fixture, 3);
    List<NodeProxy> proxies = NodeProxy.plain(fixture);
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    LockManager locks = WithoutScripts.opened(fixture, NodeProxy.uris(proxies, NodeProxy.LOCAL));
    Needs.nodesShown(fixture, locks);
    Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("extended")));

    Retries.anyOf(
        () -> {
          TckFixture.regardless(() -> lease.extend(fixture.ttl())); // by a later connection, too
          proxies.forEach(NodeProxy::cutAllButTheOldest);
          Attempts.stays(SECOND, () -> true); // it is made again at once, but once a second

          assertThatCode(() -> lease.extend(fixture.ttl()))
              .as("an extension after connections had ended while nothing was asked for")
              .doesNotThrowAnyException();
        });
  }

  /** Waits without a request, which would notice an end, too. */
  private void awaitDown(EventLog log, int before) {
    fixture
        .soon()
        .until(
            "a node whose connection ended is reported though nothing is asked for",
            () ->
                log.events().stream()
                    .skip(before)
                    .anyMatch(event -> event.text().equals("node DOWN")));
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that ping counts the answers to itself, and takes a quorum of them")
  void pingIsFalseWhileAMinorityIsUp() throws Exception {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open();
    fixture.take(locks, fixture.name("before"), fixture.ttl()).close();

    Faults.during(
        fixture,
        TckFault.DEAD,
        fixture.blocking(),
        fixture.name("down"),
        () -> fixture.soon().until("ping is false", () -> !locks.ping(SECOND)));
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that ping counts the nodes that may vote, and not all that answer")
  void pingIsFalseWhileNoQuorumMayVote() {
    Needs.of(fixture, TckFault.EMPTIED);
    Needs.nodes(fixture, 3);
    Faults.begin(fixture, TckFault.EMPTIED, fixture.nodes(), "");
    LockManager locks = Needs.option(fixture, "restartGuard", "on", "maxTtl=50s", "connect=lazy");
    fixture.awaitRegardless(
        "the nodes are seen",
        () ->
            Attempts.once(locks, fixture.name("excluded"), fixture.briefTtl()).isPresent()
                || isQuarantined(locks.nodes()));
    if (!isQuarantined(locks.nodes())) {
      abort("no node of this backend is excluded from voting");
    }

    assertThat(locks.ping(SECOND)).as("ping while all nodes are in quarantine").isFalse();
  }

  private static boolean isQuarantined(List<LockNode> nodes) {
    return nodes.stream().allMatch(node -> node.state() == State.QUARANTINED);
  }

  @Test
  @Rule("NODES-4")
  @IfThisFails("check that the timeout of ping is counted in milliseconds, and has no least value")
  void pingEndsAtItsTimeoutHoweverShortItIs() {
    Needs.of(fixture, TckFault.FROZEN);

    Retries.anyOf(
        () -> {
          LockManager locks = fixture.open("nodeTimeout=10s"); // one that knows of no silence yet
          fixture.take(locks, fixture.name("before"), fixture.ttl());
          Faults.whileFrozen(fixture, fixture.blocking(), () -> assertShortPings(locks));
        });
  }

  private void assertShortPings(LockManager locks) {
    Call<?> patient = Call.begin(() -> locks.ping(fixture.ttl()));
    fixture.awaitRegardless("it hangs", patient::isWaitingOrOver);
    for (int millis : List.of(10, 120)) {
      try (Stalls stalls = Stalls.watched()) {
        long begun = System.nanoTime();
        assertThat(locks.ping(Duration.ofMillis(millis))).isFalse();
        assertThat(Elapsed.since(begun))
            .as("time of a ping within %d ms", millis)
            .isLessThan(Duration.ofMillis(millis).plus(fixture.allowance()).plus(stalls.worst()));
      }
    }
  }
}
