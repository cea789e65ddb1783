package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An application starts while something is wrong with its nodes. */
abstract class OpeningRules {
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(300);

  final Trial trial;

  OpeningRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that nodes that are down are connected to once they are there")
  void aMinorityThatIsDownIsUsedOnceItIsThere() {
    trial.needs(TckFault.DEAD);
    trial.needsNodes(3);
    trial.begin(TckFault.DEAD, trial.minority(), "");

    LockManager locks = trial.open();

    trial.take(locks, trial.name("early"), trial.ttl());
    trial.end(TckFault.DEAD, trial.minority(), "");
    Attempts.awaitVotes(trial, locks, trial.minority());
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that opening does not wait for nodes that hang when there is a quorum")
  void aMinorityThatHangsIsUsedOnceItAnswers() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    trial.begin(TckFault.FROZEN, trial.minority(), "");

    Call<LockManager> opening = Call.begin(() -> trial.open("connectTimeout=10s"));

    LockManager locks = opened(opening);
    assertThat(opening.took()).isLessThan(Duration.ofSeconds(5));
    trial.take(locks, trial.name("early"), trial.ttl());
    trial.end(TckFault.FROZEN, trial.minority(), "");
    Attempts.awaitVotes(trial, locks, trial.minority());
  }

  @Test
  @Alone
  @Rule("OPEN-1")
  @IfThisFails("check that a node that is down is logged, by java.lang.System.Logger")
  void aMinorityThatIsDownIsLogged() {
    trial.needs(TckFault.DEAD);
    trial.needsNodes(3);
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      trial.begin(TckFault.DEAD, trial.minority(), "");

      trial.open();

      trial
          .soon()
          .untilAsserted(
              () ->
                  assertThat(trial.minority())
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
    trial.needs(TckFault.DEAD, TckFault.FROZEN);
    trial.needsNodes(2);
    List<TckNode> dead = trial.blocking().subList(1, trial.blocking().size());
    trial.begin(TckFault.DEAD, dead, "");
    trial.begin(TckFault.FROZEN, trial.node(0), "");

    assertFailsInTime(trial.blocking());
  }

  @Test
  @Rule("OPEN-1")
  @IfThisFails("check that opening fails in time when nobody answers")
  void withNodesThatAllHangOpeningFailsAndNamesEachNode() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    trial.begin(TckFault.FROZEN, trial.nodes(), "");

    assertFailsInTime(trial.nodes());
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that servers are told apart by what they are, not by their addresses")
  void theSameServerListedTwiceIsAMistake() {
    trial.needsNodes(2);
    List<String> uris = trial.uris();
    uris.set(0, aliasOf(trial.node(1)));

    for (int i = 0; i < 3; i++) {
      assertMistake(catchThrowable(() -> trial.openOn(uris)), trial.node(1));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that a manager that connects later looks for the same mistakes")
  void theSameServerListedTwiceNeverVotesTwice() throws InterruptedException {
    trial.needsNodes(2);
    List<String> uris = List.of(aliasOf(trial.node(0)), trial.node(0).uri(), trial.node(1).uri());
    String name = trial.name("voted-twice");
    trial.node(1).occupy(name, "somebody else", trial.foreignTtl());

    LockManager locks = trial.openOn(uris, "connect=lazy");

    assertThat(trial.gets(locks, name)).isFalse();
    assertThat(trial.gets(locks, name)).as("when it is connected").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @IfThisFails("check that a node is asked whether it is a master")
  void aReplicaIsAMistake() {
    trial.needs(TckFault.REPLICA);
    trial.needsNodes(2);
    trial.begin(TckFault.REPLICA, trial.node(1), "");

    assertMistake(catchThrowable(() -> trial.open()), trial.node(1));
  }

  @Test
  @Alone
  @Rule("OPEN-3")
  @IfThisFails("check that nodes are asked for their maxmemory-policy, and the log of warnings")
  void aNodeThatCanEvictLocksIsWarnedOf() {
    trial.needs(TckFault.EVICTING);
    trial.begin(TckFault.EVICTING, trial.node(0), "");
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      trial.open();

      trial
          .soon()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .anyMatch(
                          line ->
                              line.contains(trial.node(0).address())
                                  && line.contains("maxmemory-policy")));
    }
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that connect=lazy needs no node before the first request")
  void aLazyManagerOpensThoughNobodyIsThere() {
    trial.needs(TckFault.DEAD);
    trial.needsNodes(2);
    trial.begin(TckFault.DEAD, trial.nodes(), "");

    LockManager locks = trial.open("connect=lazy", "nodeTimeout=300ms");

    trial.end(TckFault.DEAD, trial.nodes(), "");
    Attempts.awaitVotes(trial, locks, trial.nodes());
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that opening with connect=lazy connects to nothing")
  void aLazyManagerThatIsNotUsedConnectsToNothing() {
    needsConnections();
    Tries.anyOf( // others may still be connecting to nodes that a test has brought back
        () -> {
          int before = trial.connections();

          LockManager locks = trial.open("connect=lazy");

          assertThat(locks.capabilities()).isEqualTo(trial.capabilities());
          assertThat(Attempts.stays(() -> trial.connections() <= before))
              .as("no connection")
              .isTrue();
        });
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that the first request waits for the connections that it has made")
  void theFirstLockOfALazyManagerIsGotAtOnce() throws InterruptedException {
    needsConnections();

    assertThat(trial.gets(trial.open("connect=lazy"), trial.name("first"))).isTrue();
  }

  private static String aliasOf(TckNode node) {
    return node.alias().orElseGet(() -> abort("this environment's nodes have one name each"));
  }

  private void needsConnections() {
    trial.needsNodes(2);
    trial.needsConnections();
  }

  private LockManager opened(Call<LockManager> opening) {
    opening.awaited(trial);
    return opening.result().orElseThrow(() -> new AssertionError("not opened: " + opening));
  }

  /** A busy machine may need more time for it once; who does not keep to its time never does. */
  private void assertFailsInTime(List<TckNode> missing) {
    Tries.anyOf(() -> assertFailsInTimeOnce(missing));
  }

  private void assertFailsInTimeOnce(List<TckNode> missing) {
    try (Stalls stalls = Stalls.watched()) {
      Call<LockManager> opening =
          Call.begin(() -> trial.open("connectTimeout=" + CONNECT_TIMEOUT.toMillis() + "ms"));

      List<String> addresses = missing.stream().map(TckNode::address).toList();
      assertThat(opening.awaited(trial).thrown())
          .get(InstanceOfAssertFactories.type(LockBackendException.class))
          .satisfies(outage -> assertThat(outage.failures()).containsOnlyKeys(addresses))
          .satisfies(
              outage ->
                  assertThat(outage).hasMessageContainingAll(addresses.toArray(String[]::new)));
      assertThat(opening.took())
          .isLessThan(CONNECT_TIMEOUT.plus(trial.allowance()).plus(stalls.worst()));
    }
  }

  private static void assertMistake(Throwable thrown, TckNode node) {
    assertThat(thrown)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(node.address());
  }
}
