package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease is made to last longer, or is not. */
abstract class ExtendRules {
  private static final Duration MAX_HOLD = Duration.ofSeconds(3);

  /** So that a ttl of half of that is long enough. */
  private static final String IMPATIENT = "nodeTimeout=500ms";

  private static final String HASTY = "nodeTimeout=150ms";

  final Trial trial;

  ExtendRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension reaches the backend, and the lease knows its new end")
  void anExtendedLeaseOutlivesItsFirstTtl() {
    LockManager locks = trial.openForShortTtl();
    LockManager other = trial.open();

    Tries.anyOf(
        () -> {
          String name = trial.name("long");
          Lease lease = trial.take(locks, name, trial.briefTtl());
          long granted = System.nanoTime();
          assertThat(isExtended(lease)).as("extended").isTrue();
          trial
              .soon()
              .until(
                  "its first ttl is over",
                  () -> System.nanoTime() - granted > trial.briefTtl().toNanos());

          assertThat(lease.isHeld()).as("held after its first ttl").isTrue();
          assertThat(trial.gets(other, name)).as("granted to another").isFalse();
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that each node that holds the token keeps the lock for the new ttl")
  void anExtensionIsDoneByAQuorumOfNodes() {
    trial.needsNodes(1);
    Duration first = trial.ttl().dividedBy(3);
    String name = trial.name("long");
    Lease lease = trial.take(trial.open(), name, first);

    lease.extend(trial.ttl());

    assertThat(trial.nodes().stream().filter(n -> n.timeToLive(name).compareTo(first) > 0).count())
        .as("nodes that keep the lock for longer than at first")
        .isGreaterThanOrEqualTo(trial.quorum());
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that the token is compared on each node, and those that hold it are counted")
  void anExtensionSucceedsExactlyWhenAQuorumHoldsTheToken() {
    trial.needsNodes(1);
    LockManager locks = trial.open();
    for (List<TckNode> lost : Subsets.of(trial.nodes())) {
      int left = trial.nodes().size() - lost.size();
      Lease overwritten = trial.takeOnAll(locks, trial.name("overwritten"), trial.ttl());
      trial.occupy(lost, overwritten.name());
      Lease removed = trial.takeOnAll(locks, trial.name("removed"), trial.ttl());
      lost.forEach(node -> node.remove(removed.name()));

      for (Lease lease : List.of(overwritten, removed)) {
        assertThat(isExtended(lease))
            .as("extended with the token on %d of %d nodes", left, trial.nodes().size())
            .isEqualTo(left >= trial.quorum());
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension changes nothing where another token is")
  void anExtensionLeavesOthersLocksAsTheyAre() {
    trial.needsNodes(1);
    String name = trial.name("others");
    Duration foreign = trial.ttl().dividedBy(3);
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, name, trial.ttl());
    trial.nodes().forEach(node -> node.occupy(name, Trial.occupant(node), foreign));

    Trial.regardless(() -> lease.extend(trial.ttl()));

    assertThat(trial.nodes())
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
    Duration first = trial.ttl().dividedBy(3);
    Lease lease = trial.take(trial.open(), trial.name("long"), first);

    trial.soon().get("the extension ends", lease.extendAsync(trial.ttl()));

    assertLasts(lease, first);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension is not given up for an interrupt")
  void whoIsInterruptedCanStillExtend() {
    Duration first = trial.ttl().dividedBy(3);
    Lease lease = trial.take(trial.open(), trial.name("long"), first);

    Thread.currentThread().interrupt();
    Throwable thrown = catchThrowable(() -> lease.extend(trial.ttl()));
    Thread.interrupted();

    assertThat(thrown).isNull();
    assertLasts(lease, first);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that is over for its holder is not extended, whatever nodes say")
  void aLeaseThatExpiredIsNotExtendedThoughItsTokenIsThere() {
    String name = trial.name("expired");
    Lease lease = trial.take(trial.openForShortTtl(), name, trial.briefTtl());
    trial.awaitOver(lease);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was lost is not extended, whatever nodes say by now")
  void aLeaseThatWasLostIsNotExtendedThoughItsTokenIsThereAgain() {
    trial.needsNodes(1);
    String name = trial.name("lost");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    trial.occupy(trial.nodes(), name);
    Trial.regardless(() -> lease.extend(trial.ttl()));
    needsLost(lease);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was released is not extended")
  void aLeaseThatWasReleasedIsNotExtended() {
    String name = trial.name("released");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    Trial.regardless(lease::release);

    assertNotExtended(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that an answer that comes after the end of validity extends nothing")
  void anExtensionThatIsAnsweredTooLateRevivesNothing() throws InterruptedException {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    String name = trial.name("late");
    Duration ttl = trial.briefTtl();
    long half = ttl.dividedBy(2).toNanos();
    LockManager locks =
        trial.open("nodeTimeout=" + ttl.multipliedBy(9).dividedBy(10).toMillis() + "ms");
    Lease lease = trial.take(locks, name, ttl);
    long granted = System.nanoTime();
    trial.soon().until("half of it is over", () -> System.nanoTime() - granted > half);
    trial.begin(TckFault.FROZEN, trial.nodes(), name);
    Thread thaw =
        new Thread(
            () -> {
              LockSupport.parkNanos(half + half / 4);
              trial.end(TckFault.FROZEN, trial.nodes(), name);
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
    Lease lease = trial.take(trial.open(HASTY), trial.name("long"), trial.ttl());

    Trial.regardless(() -> lease.extend(trial.ttl().dividedBy(6)));

    assertThat(lease.remaining()).isGreaterThan(trial.ttl().dividedBy(3));
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @IfThisFails("check that a key's time to live is compared before it is set")
  void anExtensionNeverShortensAKey() {
    trial.needsNodes(1);
    String name = trial.name("long");
    Lease lease = trial.takeOnAll(trial.open(HASTY), name, trial.ttl());

    Trial.regardless(() -> lease.extend(trial.ttl().dividedBy(6)));

    assertThat(trial.nodes())
        .allSatisfy(
            node ->
                assertThat(node.timeToLive(name))
                    .as("time to live on %s", node.address())
                    .isGreaterThan(trial.ttl().dividedBy(3)));
  }

  @Test
  @Rule("EXT-4")
  @IfThisFails("check that an extension without a quorum of answers is an outage, and no loss")
  void anExtensionThatNoQuorumAnswersIsAnOutageAndTheLeaseIsStillHeld() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unanswered");
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl().dividedBy(2));
    trial.begin(TckFault.FROZEN, trial.blocking(), name);
    Duration before = lease.remaining();

    Throwable thrown = catchThrowable(() -> lease.extend(trial.ttl()));

    assertThat(thrown).isInstanceOf(LockBackendException.class);
    assertThat(lease.isHeld()).as("it is held for what it has left").isTrue();
    assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(before);
  }

  @Test
  @Rule("EXT-4")
  @IfThisFails("check that extendAsync() fails where extend() would throw")
  void anAsynchronousExtensionThatNoQuorumAnswersIsAnOutageToo() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unanswered");
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    assertThat(lease.extendAsync(trial.ttl()).toCompletableFuture())
        .failsWithin(trial.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockBackendException.class);
    assertThat(lease.isHeld()).as("it is held for what it has left").isTrue();
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that another token on a quorum of nodes is a loss by TAKEN")
  void whatAnotherOwnerHoldsOnAQuorumIsLostAtOnce() {
    trial.needsNodes(1);
    String name = trial.name("taken");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.occupy(trial.nodes().subList(0, trial.quorum()), name);

    assertLost(lease, LossReason.TAKEN);
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that no token on a quorum of nodes is a loss by REMOVED")
  void whatNobodyHoldsOnAQuorumIsLostAtOnce() {
    trial.needsNodes(1);
    String name = trial.name("removed");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.lose(trial.nodes().subList(0, trial.quorum()), name);

    assertLost(lease, LossReason.REMOVED);
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that one other token among nodes that have none is seen")
  void whatIsGoneOnAQuorumWithAnotherOwnerSeenIsTaken() {
    trial.needsNodes(3);
    String name = trial.name("taken");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.nodes().subList(1, trial.quorum()).forEach(node -> node.remove(name));
    trial.occupy(trial.nodes().subList(0, 1), name);

    assertLost(lease, LossReason.TAKEN);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-6")
  @IfThisFails("check that an extension that is lost removes what it put back")
  void anExtensionThatIsLostLeavesNoKey() {
    trial.needsNodes(1);
    String name = trial.name("removed");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.nodes().forEach(node -> node.remove(name));

    Trial.regardless(() -> lease.extend(trial.ttl()));
    needsLost(lease);
    Trial.regardless(() -> lease.extend(trial.ttl()));

    trial.awaitFree(name);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-6")
  @IfThisFails("check that an extension that is lost removes what it put back beside others' locks")
  void anExtensionThatIsLostToAnotherOwnerLeavesNoKeyBesideIt() {
    trial.needsNodes(2);
    String name = trial.name("taken");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    List<TckNode> taken = trial.nodes().subList(0, trial.quorum());
    List<TckNode> emptied = trial.nodes().subList(trial.quorum(), trial.nodes().size());
    trial.occupy(taken, name);
    emptied.forEach(node -> node.remove(name));

    Trial.regardless(() -> lease.extend(trial.ttl()));
    needsLost(lease);

    trial.soon().until("nothing is left where nobody else is", () -> trial.isFreeOn(emptied, name));
  }

  @Test
  @Rule("EXT-7")
  @IfThisFails("check that an extension puts the key back where it is missing")
  void aNodeThatLostTheKeyGetsItBack() {
    trial.needsNodes(3);
    String name = trial.name("gone");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    List<TckNode> emptied = trial.minority();
    trial.lose(emptied, name);

    Trial.regardless(() -> lease.extend(trial.ttl()));
    if (!lease.isHeld()) {
      abort("a minority without the key is taken for a loss, which is another rule's");
    }

    trial
        .soon()
        .until(
            "the nodes that lost the key hold it again",
            () -> trial.holding(name, lease.token()) == trial.nodes().size());
    assertThat(emptied)
        .allSatisfy(
            node ->
                assertThat(node.timeToLive(name))
                    .isPositive()
                    .isLessThanOrEqualTo(trial.ttl().plusMillis(1)));
  }

  @Test
  @Rule("EXT-7")
  @IfThisFails("check that a node which got the key back counts from the next round on, not before")
  void aNodeThatGotTheKeyBackCountsFromTheNextRoundOn() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    String name = trial.name("gone");
    LockManager locks = trial.open(HASTY);
    TckNode last = trial.node(trial.nodes().size() - 1);
    Lease control = trial.takeOnAll(locks, trial.name("control"), trial.ttl());
    trial.occupy(List.of(last), control.name());
    Lease lease = trial.takeOnAll(locks, name, trial.ttl());
    last.remove(name);
    trial.begin(TckFault.FROZEN, trial.minority(), name);
    if (isExtended(control)) {
      abort("one node too few is enough, which is another rule's");
    }

    assertThat(isExtended(lease)).as("extended by one node too few").isFalse();
    if (!lease.isHeld()) {
      abort("an outage is a loss, which is another rule's");
    }
    trial.soon().until("it is extended in a later round", () -> isExtended(lease));
  }

  @Test
  @Rule("EXT-8")
  @IfThisFails("check that the ttl of an extension is cut to what is left of keepAliveUpTo")
  void anExtensionNeverGoesPastTheLongestHold() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Lease lease = trial.take(trial.open(IMPATIENT), limited(trial.name("limited")));
    long granted = System.nanoTime();
    letSomeOfItPass();

    Trial.regardless(() -> lease.extend(trial.ttl()));

    Duration held = Duration.ofNanos(System.nanoTime() - granted);
    assertThat(lease.remaining().plus(held)).isLessThanOrEqualTo(MAX_HOLD);
  }

  @Test
  @Rule("EXT-8")
  @IfThisFails("check that no node keeps a lock for longer than is left of keepAliveUpTo")
  void noNodeKeepsALockPastTheLongestHold() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needsNodes(1);
    String name = trial.name("limited");
    Lease lease = trial.takeOnAll(trial.open(IMPATIENT), limited(name));
    long granted = System.nanoTime();
    letSomeOfItPass();
    Duration held = Duration.ofNanos(System.nanoTime() - granted);

    Trial.regardless(() -> lease.extend(trial.ttl()));

    assertThat(longestTimeToLive(name))
        .as("the longest that a node keeps the lock, extended when it was held for %s", held)
        .isLessThanOrEqualTo(MAX_HOLD.minus(held).plusMillis(10));
  }

  private static LockRequest limited(String name) {
    return LockRequest.of(name, MAX_HOLD.dividedBy(2)).keepAliveUpTo(MAX_HOLD);
  }

  /** More than what drift takes off, so that what is counted from then on is seen to be more. */
  private void letSomeOfItPass() {
    long begun = System.nanoTime();
    trial
        .soon()
        .until(
            "some of it has passed",
            () -> System.nanoTime() - begun > MAX_HOLD.dividedBy(10).toNanos());
  }

  private Duration longestTimeToLive(String name) {
    return trial.nodes().stream()
        .map(node -> node.timeToLive(name))
        .max(Duration::compareTo)
        .orElseThrow();
  }

  /** By what the nodes say, because what the lease says is another rule's. */
  private void assertLasts(Lease lease, Duration longer) {
    if (trial.nodes().isEmpty()) {
      assertThat(lease.remaining()).isGreaterThan(longer);
    } else {
      assertThat(trial.nodes())
          .filteredOn(node -> node.timeToLive(lease.name()).compareTo(longer) > 0)
          .hasSizeGreaterThanOrEqualTo(trial.quorum());
    }
  }

  private boolean isExtended(Lease lease) {
    try {
      lease.extend(trial.ttl());
      return true;
    } catch (LockLostException | LockBackendException | IllegalStateException e) {
      return false;
    }
  }

  /** Though its token is on all nodes again, as late commands may bring it there. */
  private void assertNotExtended(Lease lease) {
    Duration back = trial.ttl().dividedBy(3);
    trial.nodes().forEach(node -> node.occupy(lease.name(), lease.token(), back));

    assertThat(isExtended(lease)).as("extended").isFalse();
    assertOver(lease);
    assertThat(trial.nodes())
        .as("nodes that keep the lock for longer")
        .noneMatch(node -> node.timeToLive(lease.name()).compareTo(back) > 0);
  }

  private static void assertOver(Lease lease) {
    assertThat(catchThrowable(lease::requireHeld)).as("held again").isNotNull();
  }

  /** Leaves the test out if an extension found no loss, which is another rule's. */
  private static void needsLost(Lease lease) {
    if (lease.isHeld()) {
      abort("the lease is not lost, which is another rule's");
    }
  }

  private void assertLost(Lease lease, LossReason reason) {
    Throwable thrown = catchThrowable(() -> lease.extend(trial.ttl()));
    if (thrown == null) {
      abort("it is extended, which is another rule's");
    }
    assertThat(thrown)
        .as("thrown by extend")
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
    assertOver(lease);
  }
}
