package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease is made to last longer, or is not. */
public abstract class ExtendRules {
  private static final Duration MAX_HOLD = Duration.ofSeconds(3);

  /** So that a ttl of half of that is long enough. */
  private static final String IMPATIENT = "nodeTimeout=500ms";

  private static final String HASTY = "nodeTimeout=150ms";

  final TckFixture fixture;

  public ExtendRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension reaches the backend, and the lease knows its new end")
  void anExtendedLeaseOutlivesItsFirstTtl() {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    Retries.anyOf(
        fixture.briefTtl(),
        ttl -> {
          String name = fixture.name("long");
          Lease lease = fixture.take(locks, name, ttl);
          long granted = System.nanoTime();
          assertThat(isExtended(lease)).as("extended").isTrue();
          fixture
              .soon()
              .until("its first ttl is over", () -> System.nanoTime() - granted > ttl.toNanos());

          assertThat(lease.isHeld()).as("held after its first ttl").isTrue();
          assertThat(fixture.gets(other, name)).as("granted to another").isFalse();
        });
  }

  @Test
  @Rule("EXT-10")
  @IfThisFails("check that an extension is not answered with another one that asked for less")
  void successiveExtensionsEachGiveTheirOwnTtl() throws InterruptedException {
    LockManager locks = fixture.open();
    Duration less = fixture.ttl().dividedBy(3);
    for (int round = 0; round < 30; round++) {
      Lease lease = fixture.take(locks, fixture.name("extended"), less);
      boolean inThreads = round % 3 == 2;
      CompletableFuture<Void> first = extending(lease, less, inThreads);
      CompletableFuture<Void> second = extending(lease, fixture.ttl(), inThreads);
      CompletableFuture<Void> third = extending(lease, less, inThreads);
      for (CompletableFuture<Void> one : List.of(first, third)) {
        fixture.awaitRegardless("an extension is over", one::isDone);
      }
      fixture.soon().until("the extension by more is over", second::isDone);
      if (!second.isCompletedExceptionally()) {
        assertThat(lease.remaining())
            .as("remaining after an extension that succeeded, while others asked for less")
            .isGreaterThan(less.multipliedBy(2));
      }
      TckFixture.regardless(lease::releaseAsync);
    }
  }

  private static CompletableFuture<Void> extending(Lease lease, Duration ttl, boolean inThread) {
    return inThread
        ? CompletableFuture.runAsync(() -> lease.extend(ttl), Threads.EACH_ITS_OWN)
        : lease.extendAsync(ttl);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that each node that holds the token keeps the lock for the new ttl")
  void anExtensionIsDoneByAQuorumOfNodes() {
    Needs.nodes(fixture, 1);
    Duration first = fixture.ttl().dividedBy(3);
    String name = fixture.name("long");
    Lease lease = fixture.take(fixture.open(), name, first);

    lease.extend(fixture.ttl());

    assertThat(
            fixture.nodes().stream().filter(n -> n.timeToLive(name).compareTo(first) > 0).count())
        .as("nodes that keep the lock for longer than at first")
        .isGreaterThanOrEqualTo(fixture.quorum());
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that the token is compared on each node, and those that hold it are counted")
  void anExtensionSucceedsExactlyWhenAQuorumHoldsTheToken() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open("nodeTimeout=5s");
    for (List<TckNode> lost : Subsets.of(fixture.nodes())) {
      int left = fixture.nodes().size() - lost.size();
      Lease overwritten = OnNodes.take(fixture, locks, fixture.name("overwritten"), fixture.ttl());
      OnNodes.occupy(fixture, lost, overwritten.name());
      Lease removed = OnNodes.take(fixture, locks, fixture.name("removed"), fixture.ttl());
      lost.forEach(node -> node.remove(removed.name()));

      for (Lease lease : List.of(overwritten, removed)) {
        assertThat(isExtended(lease))
            .as("extended with the token on %d of %d nodes", left, fixture.nodes().size())
            .isEqualTo(left >= fixture.quorum());
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension changes nothing where another token is")
  void anExtensionLeavesLocksOfOtherOwnersAsTheyAre() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("others");
    Duration foreign = fixture.ttl().dividedBy(3);
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, name, fixture.ttl());
    fixture.nodes().forEach(node -> node.occupy(name, OnNodes.occupant(node), foreign));

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    assertThat(fixture.nodes())
        .allSatisfy(
            node -> {
              assertThat(node.holder(name)).as("holder").isNotEqualTo(Optional.of(lease.token()));
              assertThat(node.timeToLive(name)).as("time to live").isLessThanOrEqualTo(foreign);
            });
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that extendAsync() does what extend() does")
  void anAsynchronousExtensionDoesTheSame() {
    Duration first = fixture.ttl().dividedBy(3);
    Lease lease = fixture.take(fixture.open(), fixture.name("long"), first);

    fixture.soon().get("the extension ends", lease.extendAsync(fixture.ttl()));

    assertLasts(lease, first);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension is not given up for an interrupt")
  void anInterruptedThreadCanExtend() {
    Duration first = fixture.ttl().dividedBy(3);
    Lease lease = fixture.take(fixture.open(), fixture.name("long"), first);

    Thread.currentThread().interrupt();
    Throwable thrown = catchThrowable(() -> lease.extend(fixture.ttl()));
    Thread.interrupted();

    assertThat(thrown).isNull();
    assertLasts(lease, first);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that is over for its holder is not extended, whatever nodes say")
  void aLeaseThatExpiredIsNotExtendedThoughItsTokenIsThere() {
    String name = fixture.name("expired");
    Lease lease = fixture.take(fixture.openForShortTtl(), name, fixture.briefTtl());
    fixture.awaitOver(lease);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was lost is not extended, whatever nodes say by now")
  void aLeaseThatWasLostIsNotExtendedThoughItsTokenIsThereAgain() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("lost");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), name);
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    needsLost(lease);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was released is not extended")
  void aLeaseThatWasReleasedIsNotExtended() {
    String name = fixture.name("released");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    TckFixture.regardless(lease::release);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that an answer that comes after the end of validity extends nothing")
  void anExtensionThatIsAnsweredTooLateRevivesNothing() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    String name = fixture.name("late");
    Duration ttl = fixture.briefTtl();
    long half = ttl.dividedBy(2).toNanos();
    LockManager locks =
        fixture.open("nodeTimeout=" + ttl.multipliedBy(9).dividedBy(10).toMillis() + "ms");
    Lease lease = fixture.take(locks, name, ttl);
    long granted = System.nanoTime();
    fixture.soon().until("half of it is over", () -> System.nanoTime() - granted > half);
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    Thread thaw =
        new Thread(
            () -> {
              LockSupport.parkNanos(half + half / 4);
              Faults.end(TckFault.FROZEN, fixture.nodes(), name);
            },
            "thaw");
    thaw.start();

    boolean extended = isExtended(lease);
    thaw.join();

    assertThat(extended).as("extended, with its time over").isFalse();
    assertOver(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @IfThisFails("check that the end of validity is the later of the old one and the new one")
  void anExtensionNeverShortensTheValidity() {
    Lease lease = fixture.take(fixture.open(HASTY), fixture.name("long"), fixture.ttl());

    TckFixture.regardless(() -> lease.extend(fixture.ttl().dividedBy(6)));

    assertThat(lease.remaining()).isGreaterThan(fixture.ttl().dividedBy(3));
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @IfThisFails("check that a key's time to live is compared before it is set")
  void anExtensionNeverShortensAKey() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("long");
    Lease lease = OnNodes.take(fixture, fixture.open(HASTY), name, fixture.ttl());

    TckFixture.regardless(() -> lease.extend(fixture.ttl().dividedBy(6)));

    assertThat(fixture.nodes())
        .allSatisfy(
            node ->
                assertThat(node.timeToLive(name))
                    .as("time to live on %s", node.address())
                    .isGreaterThan(fixture.ttl().dividedBy(3)));
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @IfThisFails("check that an extension is compared with the end that the one before it set")
  void anExtensionByLessThanTheOneBeforeLetsNoOtherOwnerIn() {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    Retries.anyOf( // the lease may end on a machine that stalls
        fixture.briefTtl(),
        less -> {
          Lease lease = fixture.take(locks, fixture.name("long-short"), less);
          lease.extend(less.multipliedBy(8));
          lease.extend(less);
          fixture.awaitPast(System.nanoTime(), less);

          boolean isGot = fixture.gets(other, lease.name());

          assertThat(lease.isHeld()).as("held until the longer extension ends").isTrue();
          assertThat(isGot).as("got by another while it is held").isFalse();
        });
  }

  @Test
  @Rule("EXT-4")
  @IfThisFails("check that an extension without a quorum of answers is an outage, and no loss")
  void anExtensionThatNoQuorumAnswersIsAnOutageAndTheLeaseIsStillHeld() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unanswered");
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl().dividedBy(2));
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);
    Duration before = lease.remaining();

    Throwable thrown = catchThrowable(() -> lease.extend(fixture.ttl()));

    assertThat(thrown).isInstanceOf(LockOutageException.class);
    assertThat(lease.isHeld()).as("it is held for its remaining time").isTrue();
    assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(before);
  }

  @Test
  @Rule("EXT-4")
  @IfThisFails("check that extendAsync() fails where extend() would throw")
  void anAsynchronousExtensionThatNoQuorumAnswersIsAnOutageToo() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unanswered");
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertThat(lease.extendAsync(fixture.ttl()))
        .failsWithin(fixture.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockOutageException.class);
    assertThat(lease.isHeld()).as("it is held for its remaining time").isTrue();
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that another token on a quorum of nodes is a loss by TAKEN")
  void aLockThatAnotherOwnerHoldsOnAQuorumIsLostAtOnce() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("taken");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    OnNodes.occupy(fixture, fixture.granting(), name);

    assertLost(lease, LossReason.TAKEN);
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that no token on a quorum of nodes is a loss by REMOVED")
  void aLockThatIsFreeOnAQuorumIsLostAtOnce() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("removed");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    OnNodes.lose(fixture, fixture.granting(), name);

    assertLost(lease, LossReason.REMOVED);
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that one other token among nodes that have none is seen")
  void aLockThatIsGoneOnAQuorumIsTakenIfAnotherOwnerIsSeen() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("taken");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    fixture.nodes().subList(1, fixture.quorum()).forEach(node -> node.remove(name));
    OnNodes.occupy(fixture, fixture.nodes().subList(0, 1), name);

    assertLost(lease, LossReason.TAKEN);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-6")
  @IfThisFails("check that an extension that is lost removes the keys that it put back")
  void anExtensionThatIsLostLeavesNoKey() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("removed");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    fixture.nodes().forEach(node -> node.remove(name));

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    needsLost(lease);
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-6")
  @IfThisFails(
      "check that an extension that is lost removes the keys that it put back beside other owners'"
          + " locks")
  void anExtensionThatIsLostToAnotherOwnerLeavesNoKeyBesideIt() {
    Needs.nodes(fixture, 2);
    String name = fixture.name("taken");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    List<TckNode> taken = fixture.granting();
    List<TckNode> emptied = fixture.nodes().subList(fixture.quorum(), fixture.nodes().size());
    OnNodes.occupy(fixture, taken, name);
    emptied.forEach(node -> node.remove(name));

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    needsLost(lease);

    fixture
        .soon()
        .until(
            "no key is left on nodes without another owner", () -> OnNodes.isFree(emptied, name));
  }

  @Test
  @Rule("EXT-7")
  @IfThisFails("check that an extension puts the key back where it is missing")
  void aNodeThatLostTheKeyGetsItBack() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("gone");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    List<TckNode> emptied = fixture.minority();
    OnNodes.lose(fixture, emptied, name);

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    if (!lease.isHeld()) {
      AnotherRule.isBroken("a minority without the key is taken for a loss");
    }

    fixture
        .soon()
        .until(
            "the nodes that lost the key hold it again",
            () -> OnNodes.count(fixture, name, lease.token()) == fixture.nodes().size());
    assertThat(emptied)
        .allSatisfy(
            node ->
                assertThat(node.timeToLive(name))
                    .isPositive()
                    .isLessThanOrEqualTo(fixture.ttl().plusMillis(1)));
  }

  @Test
  @Rule("EXT-7")
  @IfThisFails("check that a node which got the key back counts from the next round on, not before")
  void aNodeThatGotTheKeyBackCountsFromTheNextRoundOn() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    String name = fixture.name("gone");
    LockManager locks = fixture.open(HASTY);
    TckNode last = fixture.node(fixture.nodes().size() - 1);
    Lease control = OnNodes.take(fixture, locks, fixture.name("control"), fixture.ttl());
    OnNodes.occupy(fixture, List.of(last), control.name());
    Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
    last.remove(name);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), name);
    if (isExtended(control)) {
      AnotherRule.isBroken("one node too few is enough");
    }

    assertThat(isExtended(lease)).as("extended by one node too few").isFalse();
    if (!lease.isHeld()) {
      AnotherRule.isBroken("an outage is a loss");
    }
    fixture.soon().until("it is extended in a later round", () -> isExtended(lease));
  }

  @Test
  @Rule("EXT-8")
  @IfThisFails("check that the ttl of an extension is cut to the remaining time of keepAliveUpTo")
  void anExtensionNeverGoesPastTheLongestHold() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Lease lease = fixture.take(fixture.open(IMPATIENT), limited(fixture.name("limited")));
    long granted = System.nanoTime();
    letSomeOfItPass();

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    Duration held = Duration.ofNanos(System.nanoTime() - granted);
    assertThat(lease.remaining().plus(held)).isLessThanOrEqualTo(MAX_HOLD);
  }

  @Test
  @Rule("EXT-8")
  @IfThisFails("check that no node keeps a lock for longer than is left of keepAliveUpTo")
  void noNodeKeepsALockPastTheLongestHold() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.nodes(fixture, 1);
    String name = fixture.name("limited");
    Lease lease = OnNodes.take(fixture, fixture.open(IMPATIENT), limited(name));
    long granted = System.nanoTime();
    letSomeOfItPass();
    Duration held = Duration.ofNanos(System.nanoTime() - granted);

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    assertThat(longestTimeToLive(name))
        .as("the longest that a node keeps the lock, extended when it was held for %s", held)
        .isLessThanOrEqualTo(MAX_HOLD.minus(held).plusMillis(10));
  }

  private static LockRequest limited(String name) {
    return LockRequest.of(name, MAX_HOLD.dividedBy(2)).keepAliveUpTo(MAX_HOLD);
  }

  /**
   * Waits for more than the drift, so that a hold that is counted from now on is seen to be longer.
   */
  private void letSomeOfItPass() {
    long begun = System.nanoTime();
    fixture
        .soon()
        .until(
            "some of it has passed",
            () -> System.nanoTime() - begun > MAX_HOLD.dividedBy(10).toNanos());
  }

  private Duration longestTimeToLive(String name) {
    return fixture.nodes().stream()
        .map(node -> node.timeToLive(name))
        .max(Duration::compareTo)
        .orElseThrow();
  }

  /** Asserts it on the nodes, because the lease's own word is another rule's. */
  private void assertLasts(Lease lease, Duration longer) {
    if (fixture.nodes().isEmpty()) {
      assertThat(lease.remaining()).isGreaterThan(longer);
    } else {
      assertThat(fixture.nodes())
          .filteredOn(node -> node.timeToLive(lease.name()).compareTo(longer) > 0)
          .hasSizeGreaterThanOrEqualTo(fixture.quorum());
    }
  }

  private boolean isExtended(Lease lease) {
    try {
      lease.extend(fixture.ttl());
      return true;
    } catch (LockLostException | LockOutageException | IllegalStateException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  /**
   * Asserts that an extension fails although late commands have stored the token on all nodes
   * again.
   */
  private void assertNotExtended(Lease lease) {
    Duration back = fixture.ttl().dividedBy(3);
    fixture.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), back));

    assertThat(isExtended(lease)).as("extended").isFalse();
    assertOver(lease);
    assertThat(fixture.nodes())
        .as("nodes that keep the lock for longer")
        .noneMatch(node -> node.timeToLive(lease.name()).compareTo(back) > 0);
  }

  private static void assertOver(Lease lease) {
    assertThat(catchThrowable(lease::requireHeld)).as("held again").isNotNull();
  }

  /** Leaves the test out if an extension found no loss, which is another rule's. */
  private static void needsLost(Lease lease) {
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease is not lost");
    }
  }

  private void assertLost(Lease lease, LossReason reason) {
    Throwable thrown = catchThrowable(() -> lease.extend(fixture.ttl()));
    if (thrown == null) {
      AnotherRule.isBroken("it is extended");
    }
    assertThat(thrown)
        .as("thrown by extend")
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
    assertOver(lease);
  }
}
