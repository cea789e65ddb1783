package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A lock is got, or not. */
abstract class AcquireRules {
  final Trial trial;

  AcquireRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check that all managers keep their locks in the same place, under the same key")
  void whileALeaseIsHeldNoOtherManagerGetsTheLock() throws InterruptedException {
    String name = trial.name("held");
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    assertThat(trial.gets(trial.open(), name)).as("granted to another, too").isFalse();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
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
      List<TckNode> free = without(occupied);
      if (!free.isEmpty() && free.size() < trial.quorum()) {
        String name = trial.name("refused");
        trial.occupy(occupied, name);
        attemptInVain(locks, name);
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

    attemptInVain(locks, name);

    trial
        .soon()
        .until(
            "no key is left where there was an answer",
            () -> trial.isFreeOn(without(silent), name));
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
    trial.occupy(without(silent), name);
    trial.begin(TckFault.FROZEN, silent, name);

    attemptInVain(locks, name);

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
    attemptInVain(trial.open(), name);

    LockManager third = trial.open();
    trial.soon().until("a third manager gets the lock", () -> trial.gets(third, name));
  }

  @Test
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

    attemptInVain(locks, name);

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
  @Rule("ACQ-4")
  @IfThisFails("check that a refused attempt changes nothing, so that the next is refused as well")
  void askingOnceMoreIsRefusedLikeTheFirstTime() throws InterruptedException {
    String name = trial.name("asked");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    LockManager other = trial.open();
    attemptInVain(other, name);

    for (int i = 2; i <= 5; i++) {
      assertThat(trial.gets(other, name)).as("granted to attempt %d", i).isFalse();
    }
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
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
      attemptInVain(locks, name);

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
  @Rule("ACQ-7")
  @IfThisFails("check that a name is neither trimmed, folded, normalized, escaped nor cut off")
  void namesThatDifferLockApart() throws InterruptedException {
    String base = trial.name("name");
    String longest = base + "n".repeat(1023 - base.length());
    List<String> names =
        List.of(
            base,
            base.toUpperCase(Locale.ROOT),
            " " + base,
            base + " ",
            base + "\t",
            base + "\n",
            base + "\r\n",
            base + "\u0000",
            base + "\u0000b",
            base + "\u200b",
            base + "\u00e9",
            base + "e\u0301",
            base + "\u00c9",
            base + "\u00df",
            base + "ss",
            base + "\ufb01",
            base + "fi",
            base + "\ud83d\udd12",
            base + "\ud83d\udd13",
            base + "?",
            base + "*",
            base + "{a}",
            base + "{b}",
            base + "a b",
            base + "a%20b",
            base + "a+b",
            base + "a/b",
            base + "a//b",
            base + "\\",
            base + "\"",
            base + ":1",
            base + ":01",
            longest + "1",
            longest + "2");
    LockManager[] managers = {trial.open(), trial.open()};
    for (int i = 0; i < names.size(); i++) {
      assertThat(trial.gets(managers[i % 2], names.get(i)))
          .as("'%s' is got while others are held that look like it", names.get(i))
          .isTrue();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that names of any bytes, and of up to 1 KiB, are locked like others")
  void namesThatLookLikeSomethingElseAreLockedAndGivenBackAsTheyWereAskedFor()
      throws InterruptedException {
    LockManager locks = trial.open();
    LockManager other = trial.open();
    String base = trial.name("odd");
    for (String name :
        List.of(
            " " + base + " ",
            base + "\u0000\r\n\t*{}[]\"\\ \u2603",
            "\r\n$3\r\nDEL\r\n" + base,
            base + "\u007f\u0080\u00ff\uffff",
            base + "\ud83d\udd12",
            base + "n".repeat(1024 - base.length()),
            base + "\u20ac".repeat((1024 - base.length()) / 3))) {
      assertThat(trial.take(locks, name, trial.ttl()).name()).isEqualTo(name);
      assertThat(trial.gets(other, name)).as("'%s' is granted to another, too", name).isFalse();
    }
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
  @Rule("ACQ-9")
  @IfThisFails("check that a key of another type is counted as a refusal, and nothing more")
  void aKeyOfAnotherTypeOnAMinorityKeepsNobodyOut() throws InterruptedException {
    trial.needs(TckFault.OTHER_TYPE);
    trial.needsNodes(3);
    String name = trial.name("other-type");
    trial.begin(TckFault.OTHER_TYPE, trial.minority(), name);

    assertThat(trial.open().tryAcquire(name, trial.ttl())).isPresent();
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
    attemptInVain(locks, name);

    for (int i = 0; i < 2; i++) { // the second finds what the first left as it was
      assertThatThrownBy(() -> locks.tryAcquire(name, trial.ttl()))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(parts.toArray(String[]::new));
    }
    trial.end(TckFault.OTHER_TYPE, trial.blocking(), name);
    assertThat(trial.gets(locks, name)).as("got when the key is gone").isTrue();
  }

  @Test
  @Rule("ACQ-10")
  @IfThisFails(
      "check that the ttl is set in the same step as the lock, and from the time of asking")
  void aLockThatNobodyReleasesCanBeGotByOthersButNotWhileItIsValid() {
    String name = trial.name("abandoned");
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.openForShortTtl();
    Lease lease = trial.take(locks, name, trial.briefTtl());
    long end = System.nanoTime() + lease.remaining().toNanos();

    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - end))
        .as("time from the end of its validity to the next grant")
        .isPositive();
  }

  @Test
  @Rule("ACQ-10")
  @IfThisFails("check that it takes nobody to end a lock, because its holder may be gone")
  void theLockOfAHolderThatIsGoneEnds() {
    String name = trial.name("gone");
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();
    trial.take(locks, name, trial.briefTtl());

    locks.close();

    trial.soon().until("others get the lock", () -> trial.gets(other, name));
  }

  @Test
  @Rule("ACQ-10")
  @IfThisFails("check that each node drops a lock after its ttl, but not before its validity ends")
  void eachNodeKeepsALockForItsTtlAndNoLonger() {
    trial.needsNodes(1);
    String name = trial.name("kept");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    trial
        .soon()
        .until(
            "a quorum holds the lock", () -> trial.holding(name, lease.token()) >= trial.quorum());

    for (TckNode node : trial.nodes()) {
      if (node.holder(name).isPresent()) {
        long before = System.nanoTime();
        Duration valid = lease.remaining();
        Duration kept = node.timeToLive(name);
        Duration between = Duration.ofNanos(System.nanoTime() - before).plusMillis(1);

        assertThat(kept)
            .as("time to live on %s", node.address())
            .isLessThanOrEqualTo(trial.ttl().plusMillis(1))
            .isGreaterThanOrEqualTo(valid.minus(between));
      }
    }
  }

  @Test
  @Rule("ACQ-11")
  @IfThisFails(
      "check that an early release shortens the lock to holdAtLeast instead of removing it")
  void whatIsReleasedEarlyKeepsOthersOutForAsLongAsItAskedFor() {
    trial.needsExpiry();
    String name = trial.name("at-least");
    Duration atLeast = trial.briefTtl();
    LockManager locks = trial.open();
    LockManager other = trial.open();
    long asked = System.nanoTime();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.ttl()).holdAtLeast(atLeast));

    Trial.regardless(lease::release);
    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - asked))
        .as("time from the first request to the next grant")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Rule("ACQ-11")
  @IfThisFails(
      "check that a manager does not take its own lock for free before holdAtLeast is over")
  void whatIsReleasedEarlyKeepsTheSameManagerOutAsWell() throws InterruptedException {
    String name = trial.name("at-least");
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, LockRequest.of(name, trial.ttl()).holdAtLeast(trial.ttl()));

    Trial.regardless(lease::release);

    assertThat(trial.gets(locks, name)).as("granted to the same manager").isFalse();
  }

  @Test
  @Rule("ACQ-11")
  @IfThisFails("check that holdAtLeast is counted from the grant, and not from the release")
  void whatIsReleasedAfterThatKeepsNobodyOut() {
    String name = trial.name("long-enough");
    LockManager locks = trial.open();
    Lease lease =
        trial.take(
            locks, LockRequest.of(name, trial.ttl()).holdAtLeast(trial.ttl().dividedBy(1_000)));
    long granted = System.nanoTime();
    trial
        .soon()
        .until(
            "it was held for as long as was asked for",
            () -> System.nanoTime() - granted > trial.ttl().dividedBy(1_000).toNanos());

    Trial.regardless(lease::release);

    LockManager other = trial.open();
    trial.soon().until("others get the lock", () -> trial.gets(other, name));
  }

  @Test
  @Rule("ACQ-12")
  @IfThisFails("check that the counter is kept beside the lock, and survives its end")
  void fencingTokensIncreaseFromGrantToGrantOfAllManagers() {
    String name = trial.name("fenced");
    LockManager[] managers = {trial.open(), trial.open()};
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Lease lease = trial.take(managers[i % 2], name, trial.ttl());
      tokens.add(lease.fencingToken().orElseThrow());
      Attempts.giveBack(trial, lease);
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Rule("ACQ-12")
  @IfThisFails("check that a token is known to a quorum before the lock is granted")
  void fencingTokensIncreaseWhicheverNodesGrant() {
    trial.needsNodes(3);
    String name = trial.name("fenced");
    LockManager[] managers = {trial.open(), trial.open()};
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(trial.nodes())) {
      if (granting.size() == trial.quorum()) {
        trial.occupy(without(granting), name);
        Lease lease = trial.take(managers[tokens.size() % 2], name, trial.ttl());
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.giveBack(trial, lease);
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Rule("ACQ-12")
  @IfThisFails("check that fencing tokens do not follow the wall clock back")
  void fencingTokensIncreaseThoughTheClockIsSetBack() {
    TckClock clock = trial.needsClock();
    String name = trial.name("fenced");
    Lease before = trial.take(trial.open(), name, trial.ttl());
    long token = before.fencingToken().orElseThrow();
    Attempts.giveBack(trial, before);

    clock.step(Duration.ofHours(-1));

    Lease after = trial.take(trial.open(), name, trial.ttl());
    assertThat(after.fencingToken().orElseThrow()).isGreaterThan(token);
  }

  @Test
  @Rule("ACQ-12")
  @IfThisFails("check that the largest number of a quorum is stored by a quorum before the grant")
  void fencingTokensIncreaseWhicheverNodesGrantThoughTheClockIsSetBack() {
    trial.needsNodes(3);
    TckClock clock = trial.needsClock();
    String name = trial.name("fenced");
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(trial.nodes())) {
      if (granting.size() == trial.quorum()) {
        trial.occupy(without(granting), name);
        Lease lease = trial.take(trial.open(), name, trial.ttl()); // which has seen no token yet
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.giveBack(trial, lease);
        clock.step(Duration.ofHours(tokens.size() == 1 ? -1 : 0));
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked gives back what the task returns, and releases")
  void callLockedReturnsWhatTheTaskReturnsAndReleases() throws InterruptedException {
    List<Lease> used = new ArrayList<>();
    AtomicBoolean held = new AtomicBoolean();

    String result =
        trial
            .open()
            .callLocked(
                LockRequest.of(trial.name("task"), trial.ttl()),
                lease -> {
                  used.add(lease);
                  held.set(lease.isHeld());
                  return "done";
                });

    assertThat(result).isEqualTo("done");
    assertThat(held).as("it was held in the task").isTrue();
    assertThat(used.get(0).isHeld()).as("it is held after the task").isFalse();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked throws what the task throws, and releases")
  void callLockedThrowsWhatTheTaskThrowsAndReleases() {
    List<Lease> used = new ArrayList<>();
    Exception failure = new Exception("of the task");
    LockManager locks = trial.open();

    Throwable thrown =
        catchThrowable(
            () ->
                locks.callLocked(
                    LockRequest.of(trial.name("task"), trial.ttl()),
                    lease -> {
                      used.add(lease);
                      throw failure;
                    }));

    assertThat(thrown).isSameAs(failure);
    assertThat(used.get(0).isHeld()).as("it is held after the task").isFalse();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked interrupts the task's thread when lost() completes")
  void callLockedInterruptsTheTaskOfALostLeaseAndSaysSo() {
    AtomicBoolean interrupted = new AtomicBoolean();
    LockManager locks = trial.openForShortTtl();
    String name = trial.name("task");

    Throwable thrown =
        catchThrowable(
            () ->
                locks.callLocked(
                    LockRequest.of(name, trial.briefTtl()),
                    lease -> {
                      try {
                        new CountDownLatch(1)
                            .await(trial.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                      return "over";
                    }));

    assertThat(interrupted).as("the task was interrupted").isTrue();
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(Thread.currentThread().isInterrupted()).as("so is its caller").isFalse();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked looks at the lease when the task has thrown something, too")
  void callLockedSaysThatTheLeaseWasLostWhateverTheTaskThrows() {
    LockManager locks = trial.openForShortTtl();
    IllegalStateException failure = new IllegalStateException("of the task");

    LockLostException lost =
        catchThrowableOfType(
            LockLostException.class,
            () ->
                locks.callLocked(
                    LockRequest.of(trial.name("task"), trial.briefTtl()),
                    lease -> {
                      awaitLossUninterrupted(lease);
                      throw failure;
                    }));

    assertThat(lost).hasCause(failure);
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that the manager tells the holders of its leases apart, and not its threads")
  void aLockViewIsReentrantForOneViewAndThreadAlone() throws InterruptedException {
    trial.needs(LockCapability.KEEP_ALIVE);
    LockManager locks = trial.open();
    Lease probe = trial.take(locks, trial.name("probe"), trial.ttl());
    attemptInVain(locks, probe.name());
    LockRequest viewed = keptAlive(trial.name("views"), trial.ttl());
    Lock one = Locks.asLock(locks, viewed);
    Lock other = Locks.asLock(locks, viewed);
    Lock shared = Locks.asLock(locks, keptAlive(trial.name("threads"), trial.ttl()));

    assertThat(one.tryLock()).isTrue();
    assertThat(one.tryLock()).as("entered again").isTrue();
    one.unlock();
    assertThat(enters(other)).as("entered by another view, after one unlock of two").isFalse();
    one.unlock();
    assertThatThrownBy(one::unlock).isInstanceOf(IllegalMonitorStateException.class);

    assertThat(shared.tryLock()).isTrue();
    assertThat(onAnotherThread(() -> enters(shared))).as("entered by another thread").isFalse();
    shared.unlock();
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that a Lock view of a lease that is not kept alive is refused")
  void aLockViewNeedsKeepAlive() {
    LockManager locks = trial.open();

    assertThatThrownBy(() -> Locks.asLock(locks, LockRequest.of(trial.name("view"), trial.ttl())))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("keepAliveUpTo");
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that release() is false for a lost lease, and requireHeld() throws")
  void unlockingALostLockSaysSo() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration hold = trial.briefTtl();
    LockManager locks = trial.openForShortTtl();
    Lock lock = Locks.asLock(locks, LockRequest.of(trial.name("view"), hold).keepAliveUpTo(hold));
    lock.lock();
    Lease probe = trial.take(locks, LockRequest.of(trial.name("probe"), hold).keepAliveUpTo(hold));
    long locked = System.nanoTime();
    trial.soon().until("its time is over", () -> System.nanoTime() - locked > hold.toNanos());
    if (probe.isHeld() || probe.release()) {
      abort("a lease does not end with its longest hold, which is another rule's");
    }

    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
  }

  private static LockRequest keptAlive(String name, Duration ttl) {
    return LockRequest.of(name, ttl).keepAliveUpTo(Duration.ofHours(1));
  }

  private List<TckNode> without(List<TckNode> some) {
    return trial.nodes().stream().filter(node -> !some.contains(node)).toList();
  }

  /** An attempt that fails; the test is left out if it does not, which is another rule's. */
  private void attemptInVain(LockManager locks, String name) throws InterruptedException {
    if (trial.gets(locks, name)) {
      abort("the attempt was granted, so that nothing can be seen of one that fails");
    }
  }

  /** Gets a lock as soon as it is free, asking no more often than needed. */
  private void awaitGot(LockManager locks, String name) {
    trial.awaitFree(name);
    trial.soon().until("others get the lock", () -> trial.gets(locks, name));
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

  private static boolean enters(Lock lock) {
    try {
      return lock.tryLock();
    } catch (LockException e) {
      return false; // how it is told is another rule's
    }
  }

  private static boolean onAnotherThread(BooleanSupplier call) throws InterruptedException {
    AtomicBoolean result = new AtomicBoolean();
    Thread thread = new Thread(() -> result.set(call.getAsBoolean()), "another");
    thread.start();
    thread.join();
    return result.get();
  }

  /** Ends after the lease, whoever interrupts it. */
  private void awaitLossUninterrupted(Lease lease) {
    long limit = System.nanoTime() + trial.timing().soon().toNanos();
    while (lease.isHeld() && System.nanoTime() - limit < 0) {
      Thread.interrupted();
      LockSupport.parkNanos(1_000_000);
    }
  }
}
