package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
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

/** A lock is got, or not. */
abstract class AcquireRules {
  final Trial trial;

  AcquireRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that all managers keep their locks in the same place, under the same key")
  void whileALeaseIsHeldNoOtherManagerGetsTheLock() throws InterruptedException {
    String name = trial.name("held");
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    assertThat(trial.gets(trial.open(), name)).as("granted to another, too").isFalse();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum is N/2+1 of all nodes, and that it is enough")
  void theLockIsGrantedExactlyWhenAQuorumOfNodesIsFree() throws InterruptedException {
    trial.needsNodes(1);
    LockManager locks = trial.open();
    for (List<TckNode> occupied : Subsets.of(trial.nodes())) {
      String name = trial.name("occupied");
      trial.occupy(occupied, name);
      int free = trial.nodes().size() - occupied.size();

      assertThat(trial.gets(locks, name))
          .as("granted with %d of %d nodes free", free, trial.nodes().size())
          .isEqualTo(free >= trial.quorum());
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails(
      "check that a quorum is counted of the nodes that are configured, not of those alive")
  void nodesThatAreSilentCountLikeTheOthers() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    LockManager locks = trial.open("nodeTimeout=100ms");
    int all = trial.nodes().size();
    int tooFew = trial.quorum() - 1;
    for (int silent = 1; silent <= all - tooFew; silent++) {
      String name = trial.name("silent");
      trial.begin(TckFault.FROZEN, trial.node(silent - 1), name);
      trial.occupy(trial.nodes().subList(silent, all - tooFew), name);

      assertThat(trial.gets(locks, name))
          .as("granted by %d of %d nodes, with %d silent", tooFew, all, silent)
          .isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both")
  void halfOfTwoNodesIsNoQuorum() throws InterruptedException {
    trial.needsNodes(2);
    LockManager locks = trial.openOn(trial.uris().subList(0, 2));
    for (TckNode occupied : trial.nodes().subList(0, 2)) {
      String name = trial.name("one-of-two");
      trial.occupy(List.of(occupied), name);

      assertThat(trial.gets(locks, name)).as("granted by one of two nodes").isFalse();
    }
    assertThat(trial.gets(locks, trial.name("both"))).as("granted by both").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both, also while one of them is silent")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherIsSilent() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    String name = trial.name("one-silent");
    LockManager locks = trial.openOn(trial.uris().subList(0, 2), "nodeTimeout=150ms");
    trial.begin(TckFault.FROZEN, trial.node(1), name);

    assertThat(trial.gets(locks, name)).as("granted by one of two nodes").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that a quorum of two nodes is both, also while one of them refuses all")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherRefuses() throws InterruptedException {
    trial.needs(TckFault.REFUSING);
    trial.needsNodes(2);
    List<String> two = trial.uris().subList(0, 2);
    LockManager locks = trial.openOn(two);
    LockManager alone = trial.openOn(two.subList(1, 2));
    String name = trial.name("one-refuses");
    trial.begin(TckFault.REFUSING, trial.node(1), name);
    if (trial.gets(alone, trial.name("refused"))) {
      abort("an error is taken for a grant, which is another rule's");
    }

    assertThat(trial.gets(locks, name)).as("granted by one of two nodes").isFalse();
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a refused attempt is taken back on the nodes that had granted it")
  void anAttemptThatWasRefusedLeavesNoKey() throws InterruptedException {
    trial.needsNodes(2);
    LockManager locks = trial.open();
    Map<String, List<TckNode>> left = new LinkedHashMap<>();
    for (List<TckNode> occupied : Subsets.of(trial.nodes())) {
      List<TckNode> free = trial.nodesBut(occupied);
      if (!free.isEmpty() && free.size() < trial.quorum()) {
        String name = trial.name("refused");
        trial.occupy(occupied, name);
        Attempts.inVain(trial, locks, name);
        left.put(name, free);
      }
    }

    left.forEach(
        (name, free) ->
            trial.soon().until("no key of it is left", () -> trial.isFreeOn(free, name)));
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that an attempt in an outage is taken back on every node, once it answers")
  void anAttemptThatNoQuorumAnsweredLeavesNoKey() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("outage");
    LockManager locks = trial.open("nodeTimeout=150ms");
    List<TckNode> silent = trial.blocking();
    trial.begin(TckFault.FROZEN, silent, name);

    Attempts.inVain(trial, locks, name);

    trial
        .soon()
        .until(
            "no key is left where there was an answer",
            () -> trial.isFreeOn(trial.nodesBut(silent), name));
    trial.end(TckFault.FROZEN, silent, name);
    trial.awaitFree(name);
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a refused attempt is taken back on the nodes that were silent, too")
  void anAttemptThatWasRefusedLeavesNoKeyWhereNobodyAnswered() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    String name = trial.name("refused");
    LockManager locks = trial.open("nodeTimeout=150ms");
    List<TckNode> silent = trial.minority();
    trial.occupy(trial.nodesBut(silent), name);
    trial.begin(TckFault.FROZEN, silent, name);

    Attempts.inVain(trial, locks, name);

    trial.end(TckFault.FROZEN, silent, name);
    // a later request, so that an earlier one that was kept for a node has been done before
    Trial.regardless(() -> locks.tryAcquire(trial.name("later"), trial.ttl()));
    trial.soon().until("no key of it is left", () -> trial.isFreeOn(silent, name));
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that an attempt that was refused keeps nobody out once the holder has gone")
  void whoWasRefusedKeepsNobodyOut() throws InterruptedException {
    if (!trial.nodes().isEmpty()) {
      abort("the nodes themselves show it");
    }
    String name = trial.name("refused");
    trial.take(trial.openForShortTtl(), name, trial.shortTtl());
    Attempts.inVain(trial, trial.open(), name);

    LockManager third = trial.open();
    trial.soon().until("a third manager gets the lock", () -> trial.gets(third, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that an attempt sets nothing where there is a key, and removes only its own")
  void whatOthersHoldIsLeftAsItIs() throws InterruptedException {
    trial.needsNodes(1);
    LockManager locks = trial.open();
    Map<String, List<TckNode>> occupied = new LinkedHashMap<>();
    for (List<TckNode> some : Subsets.of(trial.nodes())) {
      String name = trial.name("occupied");
      trial.occupy(some, name);
      occupied.put(name, some);
      trial.gets(locks, name);
    }

    occupied.forEach(
        (name, some) ->
            assertThat(some)
                .allSatisfy(
                    node ->
                        assertThat(trial.isUntouched(node, name))
                            .as("held by %s for %s", node.holder(name), node.timeToLive(name))
                            .isTrue()));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that an attempt that failed compares before it removes, on silent nodes, too")
  void whatOthersHoldOnNodesThatWereSilentIsLeftAsItIs() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    String name = trial.name("occupied");
    List<TckNode> silent = trial.blocking();
    LockManager locks = trial.open("nodeTimeout=150ms");
    trial.occupy(silent, name);
    trial.begin(TckFault.FROZEN, silent, name);

    Attempts.inVain(trial, locks, name);

    trial.end(TckFault.FROZEN, silent, name);
    // a later request, so that an earlier one that was kept for a node has been done before
    Trial.regardless(() -> locks.tryAcquire(trial.name("later"), trial.ttl()));
    assertThat(silent)
        .allSatisfy(
            node ->
                assertThat(trial.isUntouched(node, name))
                    .as("held by %s for %s", node.holder(name), node.timeToLive(name))
                    .isTrue());
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that a refused attempt changes nothing, so that the next is refused as well")
  void askingOnceMoreIsRefusedLikeTheFirstTime() throws InterruptedException {
    String name = trial.name("asked");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    LockManager other = trial.open();
    Attempts.inVain(trial, other, name);

    for (int i = 2; i <= 5; i++) {
      assertThat(trial.gets(other, name)).as("granted to attempt %d", i).isFalse();
    }
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @IfThisFails("check that a token is drawn for every attempt, not for a manager or a name")
  void everyLeaseHasATokenOfItsOwn() {
    LockManager one = trial.open();
    LockManager other = trial.open();
    String again = trial.name("again");
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      LockManager locks = i % 2 == 0 ? one : other;
      tokens.add(trial.take(locks, trial.name("once"), trial.ttl()).token());
      Lease lease = trial.take(locks, again, trial.ttl());
      tokens.add(lease.token());
      Attempts.giveBack(trial, lease);
    }

    assertThat(tokens).doesNotHaveDuplicates().doesNotContain("");
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @IfThisFails("check that a token is drawn anew for the attempt after one that failed")
  void everyAttemptSendsWhatNoneSentBefore() throws InterruptedException {
    trial.needsNodes(1);
    TckLink link = trial.needsLink(trial.node(0));
    List<String> uris = trial.uris();
    uris.set(0, link.uri());
    LockManager locks = trial.openOn(uris);
    String name = trial.name("in-vain");
    int all = trial.nodes().size();
    trial.occupy(trial.nodes().subList(trial.quorum() - 1, all), name);

    for (int i = 1; i <= 4; i++) {
      Set<String> before = new HashSet<>(link.requests(name));
      Attempts.inVain(trial, locks, name);

      trial
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
    String name = trial.name("held");
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    assertThat(trial.open().tryAcquire(name, trial.ttl())).isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that tryAcquire without a wait does not pause and try again")
  void aRefusedAttemptWithoutAWaitIsNotRepeated() {
    Duration retryDelay = Duration.ofSeconds(2);
    String name = trial.name("held");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    LockManager other = trial.open("retryDelay=" + retryDelay.toMillis() + "ms");

    Tries.anyOf(
        () ->
            assertThat(timeOf(() -> trial.gets(other, name)))
                .as("time that an attempt took, with pauses of at least half of %s", retryDelay)
                .isLessThan(retryDelay.dividedBy(2)));
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that tryAcquire without a wait asks silent nodes once, and not again")
  void anAttemptInAnOutageIsNotRepeated() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    Duration nodeTimeout = Duration.ofMillis(300);

    Tries.anyOf(
        () -> {
          String name = trial.name("silent");
          LockManager locks = trial.open("nodeTimeout=" + nodeTimeout.toMillis() + "ms");
          Lease lease = trial.take(locks, trial.name("warm"), trial.ttl());
          trial.begin(TckFault.FROZEN, trial.blocking(), name);
          Duration ofARelease = timeOf(() -> Trial.regardless(lease::release));
          Duration took = timeOf(() -> trial.gets(locks, name));
          trial.end(TckFault.FROZEN, trial.blocking(), name);

          assertThat(took)
              .as("time that an attempt took, against %s for a release", ofARelease)
              .isLessThan(max(nodeTimeout, ofARelease).multipliedBy(17).dividedBy(10));
        });
  }

  @Test
  @Rule("ACQ-8")
  @IfThisFails("check that a manager refuses what it holds itself, also for the same thread")
  void whoHoldsALockIsRefusedItLikeEverybodyElse() throws InterruptedException {
    LockManager locks = trial.open();
    Lease once = trial.take(locks, trial.name("once"), trial.ttl());
    Lease waiting = trial.take(locks, trial.name("waiting"), trial.ttl());
    Lease async = trial.take(locks, trial.name("async"), trial.ttl());
    LockRequest request =
        LockRequest.of(waiting.name(), trial.ttl()).waitAtMost(trial.allowance().dividedBy(10));

    assertThat(trial.gets(locks, once.name())).as("granted to its own holder").isFalse();
    Trial.regardless(() -> assertRefused(locks.tryAcquire(request)));
    Trial.regardless(
        () ->
            assertRefused(
                locks
                    .tryAcquireAsync(LockRequest.of(async.name(), trial.ttl()))
                    .get(trial.timing().soon().toNanos(), TimeUnit.NANOSECONDS)));
  }

  @Test
  @Rule("ACQ-8")
  @IfThisFails("check that contention within one manager is told from that with another one")
  void contentionWithinOneManagerSaysSo() throws InterruptedException {
    LockManager locks = trial.open();
    String own = trial.name("own");
    String others = trial.name("others");
    trial.take(locks, own, trial.ttl());
    trial.take(trial.open(), others, trial.ttl());

    assertThat(contentionOn(locks, own))
        .hasMessageContaining("this very manager")
        .hasMessageContaining("Locks.asLock")
        .matches(LockUnavailableException::isHeldByThisManager);
    assertThat(contentionOn(locks, others)).matches(thrown -> !thrown.isHeldByThisManager());
  }

  private LockUnavailableException contentionOn(LockManager locks, String name)
      throws InterruptedException {
    try {
      locks.acquire(LockRequest.of(name, trial.ttl()).waitAtMost(Duration.ZERO));
    } catch (LockUnavailableException thrown) {
      return thrown;
    }
    throw new AssertionError(name + " was granted to a second owner");
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails("check that a key of another type is counted as a refusal, and nothing more")
  void aKeyOfAnotherTypeOnAMinorityKeepsNobodyOut() {
    trial.needs(TckFault.OTHER_TYPE);
    trial.needsNodes(3);
    String name = trial.name("other-type");
    trial.begin(TckFault.OTHER_TYPE, trial.minority(), name);

    assertThat(trial.take(trial.open(), name, trial.ttl()).isHeld()).isTrue();
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails("check that a key of another type is contention where other refusals are needed")
  void aKeyOfAnotherTypeIsARefusalAmongOthers() {
    trial.needs(TckFault.OTHER_TYPE);
    trial.needsNodes(3);
    String name = trial.name("other-type");
    trial.begin(TckFault.OTHER_TYPE, trial.node(0), name);
    trial.occupy(trial.nodes().subList(1, trial.nodes().size()), name);

    Throwable thrown = catchThrowable(() -> trial.open().tryAcquire(name, trial.ttl()));

    assertThat(thrown instanceof LockConfigurationException)
        .as("taken for a mistake in the configuration: %s", thrown)
        .isFalse();
  }

  @Test
  @Rule("ACQ-9")
  @IfThisFails(
      "check that keys of another type on a quorum are an error with the key and the nodes")
  void keysOfAnotherTypeThatPreventAQuorumAreAConfigurationError() throws InterruptedException {
    trial.needs(TckFault.OTHER_TYPE);
    String name = trial.name("other-type");
    trial.begin(TckFault.OTHER_TYPE, trial.blocking(), name);
    LockManager locks = trial.open();
    List<String> parts = new ArrayList<>(List.of(name));
    trial.blocking().forEach(node -> parts.add(node.address()));
    Attempts.inVain(trial, locks, name);

    for (int i = 0; i < 2; i++) { // the second finds what the first left as it was
      assertThatThrownBy(() -> locks.tryAcquire(name, trial.ttl()))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(parts.toArray(String[]::new));
    }
    trial.end(TckFault.OTHER_TYPE, trial.blocking(), name);
    assertThat(trial.gets(locks, name)).as("got when the key is gone").isTrue();
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
