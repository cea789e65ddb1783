package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes that lose their data, and managers of different terms, while the restart guard is on. */
public abstract class GuardRules {
  private static final int ATTEMPTS = 3;

  /** So that a quarantine ends during a test. */
  private static final Duration MAX_TTL = Duration.ofMillis(400);

  /** The margin of a quarantine, which comes on top of the longest ttl. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  private static final Duration SHORT = Duration.ofMillis(300);

  static final String TRUSTING = "newNodes=trust";

  private static final String[] TERMS = {"cluster=shop", "maxTtl=50s"};

  private static final List<List<String>> OTHER_TERMS =
      List.of(
          List.of("cluster=bills", "maxTtl=50s"),
          List.of("cluster=", "maxTtl=50s"),
          List.of("cluster=shop", "maxTtl=49999ms"));

  final TckFixture fixture;

  public GuardRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @IfThisFails("check that restartGuard has an effect, and that a node's QUARANTINED is no vote")
  void noLockIsGrantedByNodesThatLostIt() throws InterruptedException {
    LockManager holder = needsGuarded();
    LockManager other = guarded();
    Lease lease = OnNodes.take(fixture, holder, fixture.name("held"), fixture.ttl());

    empty(fixture.granting());

    for (LockManager locks : List.of(other, guarded(), guarded(TRUSTING), holder)) {
      assertThat(isEverGranted(locks, lease.name()))
          .as("granted while a quorum of nodes is in quarantine")
          .isFalse();
    }
    assertThat(lease.isHeld()).as("whether the lease is held").isTrue();
  }

  @Test
  @Rule("GUARD-2")
  @IfThisFails("check that the outage reports each node in quarantine")
  void theOutageNamesTheNodesInQuarantine() {
    needsGuarded();
    LockManager locks = guarded();
    empty(fixture.granting());

    Throwable thrown = catchThrowable(() -> locks.tryAcquire(fixture.name("free"), fixture.ttl()));

    assertThat(thrown)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(addresses(fixture.granting()).toArray(String[]::new))
        .message()
        .as("when they vote again")
        .containsPattern("\\d\\d:\\d\\d");
  }

  @Test
  @Rule("NODES-6")
  @IfThisFails("check that nodes() knows what nodes said of their quarantine")
  void aNodeInQuarantineIsShownWithItsEnd() {
    needsGuarded();
    LockManager locks = guarded();
    Needs.nodesShown(fixture, locks);
    empty(fixture.granting());
    TckFixture.regardless(() -> locks.tryAcquire(fixture.name("free"), fixture.ttl()));

    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(locks.nodes())
                    .filteredOn(node -> node.state() == State.QUARANTINED)
                    .allMatch(node -> node.votesAgain().isPresent())
                    .extracting(LockNode::address)
                    .as("nodes shown in quarantine")
                    .hasSameElementsAs(addresses(fixture.granting())));
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @IfThisFails("check that a quarantine lasts for maxTtl and its margin, and then ends by itself")
  void nodesThatLostLocksVoteAgainOnceNoneCanBeLeft() {
    String maxTtl = "maxTtl=" + MAX_TTL.toMillis() + "ms";
    needsGuarded(maxTtl);
    LockManager locks = guarded(maxTtl);
    fixture.take(locks, fixture.name("before"), SHORT);
    long emptied = System.nanoTime();
    Instant emptiedAt = Instant.now();
    empty(fixture.granting());

    fixture.take(locks, fixture.name("after"), SHORT);

    Duration shown = Duration.between(emptiedAt, Instant.now());
    Duration passed = Elapsed.since(emptied);
    assertThat(shown.compareTo(passed) > 0 ? shown : passed) // nodes go by a clock that may be set
        .as("the time until nodes without their data vote")
        .isGreaterThan(MAX_TTL.plus(MARGIN));
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @IfThisFails("check that a node in quarantine still votes on the lease whose key was put back")
  void nodesThatLoseALockOneAfterTheOtherKeepItsLease() {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = needsGuarded("nodeTimeout=10s");
    EventLog log = new EventLog();
    locks.addListener(log);
    Lease lease = OnNodes.take(fixture, locks, fixture.name("held"), fixture.ttl());
    TckFixture.regardless(() -> lease.extend(fixture.ttl())); // the votes of all nodes count
    int rounds = 2;
    int lost = fixture.minority().size();
    for (int from = 0; from + lost <= fixture.nodes().size(); from += lost) {
      awaitVotes(log, rounds); // also those that came after the decision
      empty(fixture.nodes().subList(from, from + lost));
      for (int i = 0; i < 2; i++) {
        assertThatCode(() -> lease.extend(fixture.ttl()))
            .as("an extension after %d nodes from node %d on lost all", lost, from)
            .doesNotThrowAnyException();
        rounds++;
      }
    }
  }

  /** Waits until each node's vote in each of some rounds was reported. */
  private void awaitVotes(EventLog log, int rounds) {
    fixture.awaitRegardless(
        "votes are reported",
        () ->
            fixture.nodes().stream()
                .map(node -> log.about(node.address()))
                .allMatch(
                    of -> of.stream().filter(text -> text.startsWith("vote")).count() >= rounds));
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-4")
  @IfThisFails("check that cluster and maxTtl reach the nodes, and that one refusal is enough")
  void managersOfOtherTermsAreRefused() throws InterruptedException {
    LockManager locks = needsGuarded(TERMS);
    fixture.take(locks, fixture.name("first"), fixture.ttl()).close();
    guarded(TERMS);
    for (List<String> terms : OTHER_TERMS) {
      assertThatThrownBy(() -> guarded(terms.get(0), terms.get(1)))
          .as("opening with %s", terms)
          .isInstanceOf(LockConfigurationException.class);
      assertThatThrownBy(
              () ->
                  guarded(terms.get(0), terms.get(1), "connect=lazy")
                      .tryAcquire(fixture.name("other"), fixture.ttl()))
          .as("an attempt with %s", terms)
          .isInstanceOf(LockConfigurationException.class);
    }
    assertThat(fixture.gets(locks, fixture.name("still")))
        .as("the first manager still gets locks")
        .isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-8")
  @IfThisFails(
      "check that newNodes=trust counts for the first connection, and for all nodes or none")
  void nodesThatAreEmptyLaterAreNotTrusted() throws InterruptedException {
    LockManager locks = needsGuarded();
    fixture.take(locks, fixture.name("before"), fixture.ttl());

    empty(fixture.nodes());

    assertThat(isEverGranted(locks, fixture.name("after")))
        .as("granted by nodes that were emptied after this manager had connected to them")
        .isFalse();
  }

  private boolean isEverGranted(LockManager locks, String name) throws InterruptedException {
    boolean isGranted = false;
    for (int i = 0; i < ATTEMPTS; i++) {
      isGranted |= fixture.gets(locks, name);
    }
    return isGranted;
  }

  /** Opens the first manager of these nodes with the guard, or leaves the test out. */
  private LockManager needsGuarded(String... own) {
    Needs.of(fixture, TckFault.EMPTIED);
    Needs.nodes(fixture, 3);
    List<String> others = new ArrayList<>(List.of(own));
    others.add(TRUSTING);
    others.add(TckFixture.NO_OUTAGE); // nodes are trusted once, if all answer in time
    return Needs.option(fixture, "restartGuard", "on", others.toArray(String[]::new));
  }

  private LockManager guarded(String... own) {
    List<String> options = new ArrayList<>(List.of(own));
    options.add("restartGuard=on");
    return fixture.open(options.toArray(String[]::new));
  }

  private static List<String> addresses(List<TckNode> nodes) {
    return nodes.stream().map(TckNode::address).toList();
  }

  private void empty(List<TckNode> nodes) {
    Faults.begin(fixture, TckFault.EMPTIED, nodes, "");
  }
}
