package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about the acquisition of a lock. */
public abstract class AcquireRules {
  final TckFixture fixture;

  public AcquireRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that all managers keep their locks in the same place, under the same key")
  void whileALeaseIsHeldNoOtherManagerGetsTheLock() throws InterruptedException {
    String name = fixture.name("held");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());

    assertThat(fixture.gets(fixture.open(), name)).as("granted to another, too").isFalse();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum is N/2+1 of all nodes, and that it is enough")
  void theLockIsGrantedExactlyWhenAQuorumOfNodesIsFree() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open("nodeTimeout=5s");
    for (List<TckNode> occupied : Subsets.of(fixture.nodes())) {
      String name = fixture.name("occupied");
      OnNodes.occupy(fixture, occupied, name);
      int free = fixture.nodes().size() - occupied.size();

      assertThat(fixture.gets(locks, name))
          .as("granted with %d of %d nodes free", free, fixture.nodes().size())
          .isEqualTo(free >= fixture.quorum());
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails(
      "check that a quorum is counted of the nodes that are configured, not of those alive")
  void nodesThatAreSilentCountLikeTheOthers() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.open("nodeTimeout=100ms");
    int all = fixture.nodes().size();
    int tooFew = fixture.quorum() - 1;
    for (int silent = 1; silent <= all - tooFew; silent++) {
      String name = fixture.name("silent");
      Faults.begin(fixture, TckFault.FROZEN, fixture.node(silent - 1), name);
      OnNodes.occupy(fixture, fixture.nodes().subList(silent, all - tooFew), name);

      assertThat(fixture.gets(locks, name))
          .as("granted by %d of %d nodes, with %d silent", tooFew, all, silent)
          .isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both")
  void halfOfTwoNodesIsNoQuorum() throws InterruptedException {
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.openOn(fixture.uris().subList(0, 2), "nodeTimeout=5s");
    for (TckNode occupied : fixture.nodes().subList(0, 2)) {
      String name = fixture.name("one-of-two");
      OnNodes.occupy(fixture, List.of(occupied), name);

      assertThat(fixture.gets(locks, name)).as("granted by one of two nodes").isFalse();
    }
    assertThat(fixture.gets(locks, fixture.name("both"))).as("granted by both").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both, also while one of them is silent")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherIsSilent() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    String name = fixture.name("one-silent");
    LockManager locks = fixture.openOn(fixture.uris().subList(0, 2), "nodeTimeout=150ms");
    Faults.begin(fixture, TckFault.FROZEN, fixture.node(1), name);

    assertThat(fixture.gets(locks, name)).as("granted by one of two nodes").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both, also while one of them refuses all")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherRefuses() throws InterruptedException {
    Needs.of(fixture, TckFault.REFUSING);
    Needs.nodes(fixture, 2);
    List<String> two = fixture.uris().subList(0, 2);
    LockManager locks = fixture.openOn(two);
    LockManager alone = fixture.openOn(two.subList(1, 2));
    String name = fixture.name("one-refuses");
    Faults.begin(fixture, TckFault.REFUSING, fixture.node(1), name);
    if (fixture.gets(alone, fixture.name("refused"))) {
      AnotherRule.isBroken("an error is taken for a grant");
    }

    assertThat(fixture.gets(locks, name)).as("granted by one of two nodes").isFalse();
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a refused attempt is released on the nodes that had granted it")
  void anAttemptThatWasRefusedLeavesNoKey() throws InterruptedException {
    Needs.nodes(fixture, 2);
    LockManager locks = fixture.open();
    Map<String, List<TckNode>> left = new LinkedHashMap<>();
    for (List<TckNode> occupied : Subsets.of(fixture.nodes())) {
      List<TckNode> free = fixture.nodesBut(occupied);
      if (!free.isEmpty() && free.size() < fixture.quorum()) {
        String name = fixture.name("refused");
        OnNodes.occupy(fixture, occupied, name);
        Attempts.refused(fixture, locks, name);
        left.put(name, free);
      }
    }

    left.forEach(
        (name, free) ->
            fixture.soon().until("no key of it is left", () -> OnNodes.isFree(free, name)));
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that an attempt in an outage is released on every node, once it answers")
  void anAttemptThatNoQuorumAnsweredLeavesNoKey() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("outage");
    LockManager locks = fixture.open("nodeTimeout=150ms");
    List<TckNode> silent = fixture.blocking();
    Faults.begin(fixture, TckFault.FROZEN, silent, name);

    Attempts.refused(fixture, locks, name);

    fixture
        .soon()
        .until(
            "no key is left where there was an answer",
            () -> OnNodes.isFree(fixture.nodesBut(silent), name));
    Faults.end(TckFault.FROZEN, silent, name);
    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a refused attempt is also released on the nodes that were silent")
  void anAttemptThatWasRefusedLeavesNoKeyOnSilentNodes() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    String name = fixture.name("refused");
    LockManager locks = fixture.open("nodeTimeout=150ms");
    List<TckNode> silent = fixture.minority();
    OnNodes.occupy(fixture, fixture.nodesBut(silent), name);
    Faults.begin(fixture, TckFault.FROZEN, silent, name);

    Attempts.refused(fixture, locks, name);

    Faults.end(TckFault.FROZEN, silent, name);
    // a later request, so that an earlier one that was kept for a node has been done before
    TckFixture.regardless(() -> locks.tryAcquire(fixture.name("later"), fixture.ttl()));
    fixture.soon().until("no key of it is left", () -> OnNodes.isFree(silent, name));
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a refused attempt blocks no client once the holder has gone")
  void aRefusedAttemptKeepsNoOtherOwnerOut() throws InterruptedException {
    if (!fixture.nodes().isEmpty()) {
      abort("the nodes themselves show it");
    }
    String name = fixture.name("refused");
    fixture.take(fixture.openForShortTtl(), name, fixture.shortTtl());
    Attempts.refused(fixture, fixture.open(), name);

    LockManager third = fixture.open();
    fixture.soon().until("a third manager gets the lock", () -> fixture.gets(third, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that an attempt sets nothing where there is a key, and removes only its own")
  void locksOfOtherOwnersAreLeftAsTheyAre() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    Map<String, List<TckNode>> occupied = new LinkedHashMap<>();
    for (List<TckNode> some : Subsets.of(fixture.nodes())) {
      String name = fixture.name("occupied");
      OnNodes.occupy(fixture, some, name);
      occupied.put(name, some);
      fixture.gets(locks, name);
    }

    occupied.forEach(
        (name, some) ->
            assertThat(some)
                .allSatisfy(
                    node ->
                        assertThat(OnNodes.isUntouched(fixture, node, name))
                            .as("held by %s for %s", node.holder(name), node.timeToLive(name))
                            .isTrue()));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that an attempt that failed compares before it removes, on silent nodes, too")
  void locksOfOtherOwnersOnSilentNodesAreLeftAsTheyAre() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    String name = fixture.name("occupied");
    List<TckNode> silent = fixture.blocking();
    LockManager locks = fixture.open("nodeTimeout=150ms");
    OnNodes.occupy(fixture, silent, name);
    Faults.begin(fixture, TckFault.FROZEN, silent, name);

    Attempts.refused(fixture, locks, name);

    Faults.end(TckFault.FROZEN, silent, name);
    // a later request, so that an earlier one that was kept for a node has been done before
    TckFixture.regardless(() -> locks.tryAcquire(fixture.name("later"), fixture.ttl()));
    assertThat(silent)
        .allSatisfy(
            node ->
                assertThat(OnNodes.isUntouched(fixture, node, name))
                    .as("held by %s for %s", node.holder(name), node.timeToLive(name))
                    .isTrue());
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that a refused attempt changes nothing, so that the next is refused as well")
  void aSecondAttemptIsRefusedLikeTheFirst() throws InterruptedException {
    String name = fixture.name("asked");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    LockManager other = fixture.open();
    Attempts.refused(fixture, other, name);

    for (int i = 2; i <= 5; i++) {
      assertThat(fixture.gets(other, name)).as("granted to attempt %d", i).isFalse();
    }
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @IfThisFails("check that a token is drawn for every attempt, not for a manager or a name")
  void everyLeaseHasATokenOfItsOwn() {
    LockManager one = fixture.open();
    LockManager other = fixture.open();
    String again = fixture.name("again");
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      LockManager locks = i % 2 == 0 ? one : other;
      tokens.add(fixture.take(locks, fixture.name("once"), fixture.ttl()).token());
      Lease lease = fixture.take(locks, again, fixture.ttl());
      tokens.add(lease.token());
      Attempts.release(fixture, lease);
    }

    assertThat(tokens).doesNotHaveDuplicates().doesNotContain("");
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @IfThisFails("check that a token is drawn again for the attempt after one that failed")
  void everyAttemptSendsANewToken() throws InterruptedException {
    Needs.nodes(fixture, 1);
    TckLink link = Needs.link(fixture, fixture.node(0));
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    LockManager locks = fixture.openOn(uris);
    String name = fixture.name("in-vain");
    int all = fixture.nodes().size();
    OnNodes.occupy(fixture, fixture.nodes().subList(fixture.quorum() - 1, all), name);

    for (int i = 1; i <= 4; i++) {
      Set<String> before = new HashSet<>(link.requests(name));
      Attempts.refused(fixture, locks, name);

      fixture
          .soon()
          .until(
              "attempt " + i + " sends something new",
              () -> !before.containsAll(link.requests(name)));
    }
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails(
      "check that tryAcquire is empty, and throws nothing, if another owner holds the lock")
  void tryAcquireIsEmptyIfAnotherOwnerHoldsTheLock() throws InterruptedException {
    String name = fixture.name("held");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());

    assertThat(fixture.open().tryAcquire(name, fixture.ttl())).isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that tryAcquire without a wait does not pause and try again")
  void aRefusedAttemptWithoutAWaitIsNotRepeated() {
    Duration retryDelay = Duration.ofSeconds(2);
    String name = fixture.name("held");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    LockManager other = fixture.open("retryDelay=" + retryDelay.toMillis() + "ms");

    Retries.anyOf(
        () ->
            assertThat(timeOf(() -> fixture.gets(other, name)))
                .as("time that an attempt took, with pauses of at least half of %s", retryDelay)
                .isLessThan(retryDelay.dividedBy(2)));
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that the backend sends nothing after a refusal that could still be granted")
  void aRefusedAttemptHidesNoSecondOne() throws InterruptedException {
    Needs.nodes(
        fixture, 3); // where one node refuses in several steps, it may grant after the first
    List<TckLink> links = Needs.links(fixture);
    LockManager locks = fixture.openOn(Needs.uris(links));
    Attempts.untilGot(fixture, locks, fixture.name("warm"));
    Attempts.refused(fixture, locks, occupied("refused")); // nodes know all scripts from now on

    Retries.anyOf(
        () -> {
          String name = occupied("freed");
          links.forEach(link -> link.after(name, 1, TckLink.Fate.LATE));
          Call<Optional<Lease>> call = Call.begin(() -> locks.tryAcquire(name, fixture.ttl()));
          fixture.awaitRegardless(
              "the second requests come, or the call is over",
              () ->
                  call.isOver() || links.stream().allMatch(link -> link.requests(name).size() > 1));
          fixture.nodes().forEach(node -> node.remove(name));
          links.forEach(TckLink::mend);

          assertThat(call.awaited(fixture).result().flatMap(lease -> lease))
              .as("the lease of an attempt at a lock that became free after the refusals")
              .isEmpty();
        });
  }

  /** Returns the name of a lock that another owner holds on all nodes. */
  private String occupied(String end) {
    String name = fixture.name(end);
    OnNodes.occupy(fixture, fixture.nodes(), name);
    return name;
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that tryAcquire without a wait asks silent nodes once, and not again")
  void anAttemptInAnOutageIsNotRepeated() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    Duration nodeTimeout = Duration.ofMillis(450);

    Retries.anyOf(
        () -> {
          String name = fixture.name("silent");
          LockManager locks = fixture.open("nodeTimeout=" + nodeTimeout.toMillis() + "ms");
          Lease lease = fixture.take(locks, fixture.name("warm"), fixture.ttl());
          Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);
          Duration ofARelease = timeOf(() -> TckFixture.regardless(lease::release));
          Duration took = timeOf(() -> fixture.gets(locks, name));
          Faults.end(TckFault.FROZEN, fixture.blocking(), name);

          assertThat(took)
              .as("time that an attempt took, against %s for a release", ofARelease)
              .isLessThan(max(nodeTimeout, ofARelease).multipliedBy(17).dividedBy(10));
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-8")
  @IfThisFails("check that a manager refuses a lock that it holds itself, also for the same thread")
  void aHolderIsRefusedItsOwnLock() throws InterruptedException {
    LockManager locks = fixture.open();
    Lease once = fixture.take(locks, fixture.name("once"), fixture.ttl());
    Lease waiting = fixture.take(locks, fixture.name("waiting"), fixture.ttl());
    Lease async = fixture.take(locks, fixture.name("async"), fixture.ttl());
    LockRequest request =
        LockRequest.of(waiting.name(), fixture.ttl()).waitAtMost(fixture.allowance().dividedBy(10));

    assertThat(fixture.gets(locks, once.name())).as("granted to its own holder").isFalse();
    TckFixture.regardless(() -> assertRefused(locks.tryAcquire(request)));
    TckFixture.regardless(
        () ->
            assertRefused(
                locks
                    .tryAcquireAsync(LockRequest.of(async.name(), fixture.ttl()))
                    .get(fixture.timing().soon().toNanos(), TimeUnit.NANOSECONDS)));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-8")
  @IfThisFails(
      "check that contention within one manager is distinguished from contention with another one")
  void contentionWithinOneManagerSaysSo() throws InterruptedException {
    LockManager locks = fixture.open();
    String own = fixture.name("own");
    String others = fixture.name("others");
    fixture.take(locks, own, fixture.ttl());
    fixture.take(fixture.open(), others, fixture.ttl());

    assertThat(contentionOn(locks, own))
        .hasMessageContaining("this very manager")
        .hasMessageContaining("Locks.asLock")
        .matches(LockContendedException::isHeldByThisManager);
    assertThat(contentionOn(locks, others)).matches(thrown -> !thrown.isHeldByThisManager());
  }

  private LockContendedException contentionOn(LockManager locks, String name)
      throws InterruptedException {
    try {
      locks.acquire(LockRequest.of(name, fixture.ttl()).waitAtMost(Duration.ZERO));
    } catch (LockContendedException thrown) {
      return thrown;
    }
    throw new AssertionError(name + " was granted to a second owner");
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails("check that a key of another type is counted as a refusal, and nothing more")
  void aKeyOfAnotherTypeOnAMinorityPreventsNoGrant() {
    Needs.of(fixture, TckFault.OTHER_TYPE);
    Needs.nodes(fixture, 3);
    String name = fixture.name("other-type");
    Faults.begin(fixture, TckFault.OTHER_TYPE, fixture.minority(), name);

    assertThat(fixture.take(fixture.open(), name, fixture.ttl()).isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails("check that a key of another type is contention where other refusals are needed")
  void aKeyOfAnotherTypeIsARefusalAmongOthers() {
    Needs.of(fixture, TckFault.OTHER_TYPE);
    Needs.nodes(fixture, 3);
    String name = fixture.name("other-type");
    Faults.begin(fixture, TckFault.OTHER_TYPE, fixture.node(0), name);
    OnNodes.occupy(fixture, fixture.nodes().subList(1, fixture.nodes().size()), name);

    Throwable thrown = catchThrowable(() -> fixture.open().tryAcquire(name, fixture.ttl()));

    assertThat(thrown instanceof LockConfigurationException)
        .as("taken for a mistake in the configuration: %s", thrown)
        .isFalse();
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails(
      "check that keys of another type on a quorum are an error with the key and the nodes")
  void keysOfAnotherTypeThatPreventAQuorumAreAConfigurationError() throws InterruptedException {
    Needs.of(fixture, TckFault.OTHER_TYPE);
    String name = fixture.name("other-type");
    Faults.begin(fixture, TckFault.OTHER_TYPE, fixture.blocking(), name);
    LockManager locks = fixture.open("nodeTimeout=5s");
    List<String> parts = new ArrayList<>(List.of(name));
    fixture.blocking().forEach(node -> parts.add(node.address()));
    Attempts.refused(fixture, locks, name);

    for (int i = 0; i < 2; i++) { // the second finds what the first left as it was
      assertThatThrownBy(() -> locks.tryAcquire(name, fixture.ttl()))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(parts.toArray(String[]::new));
    }
    Faults.end(TckFault.OTHER_TYPE, fixture.blocking(), name);
    assertThat(fixture.gets(locks, name)).as("got when the key is gone").isTrue();
  }

  private static void assertRefused(Optional<Lease> granted) {
    assertThat(granted).as("granted to its own holder").isEmpty();
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private static Duration timeOf(Eventually.Assertions call) throws Exception {
    long start = System.nanoTime();
    call.run();
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
