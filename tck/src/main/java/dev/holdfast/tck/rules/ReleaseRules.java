package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about the release of a lock. */
public abstract class ReleaseRules {
  private static final String HASTY = "nodeTimeout=150ms";

  final TckFixture fixture;

  public ReleaseRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token and deletes in one step")
  void aLateReleaseSparesTheNextOwner() throws InterruptedException {
    String name = fixture.name("late");
    LockManager locks = fixture.openForShortTtl();
    Lease first = fixture.take(locks, name, fixture.briefTtl());
    fixture.awaitOver(first);
    Lease second = fixture.take(locks, name, fixture.ttl());

    TckFixture.regardless(first::release);

    assertThat(second.isHeld()).isTrue();
    assertThat(fixture.gets(fixture.open(), name)).as("a third owner gets it").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token on each node by itself")
  void aReleaseSparesALockThatAnotherOwnerHoldsByNow() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("overwritten");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), name);

    TckFixture.regardless(lease::release);

    assertThat(fixture.nodes()).allMatch(node -> OnNodes.isUntouched(fixture, node, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token, also where a lock was taken away by force")
  void aReleaseSparesTheOwnerAfterAForcedRelease() throws InterruptedException {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    String name = fixture.name("forced");
    LockManager others = fixture.open();
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    TckFixture.regardless(() -> others.forceRelease(name));
    if (!fixture.gets(others, name)) {
      AnotherRule.isBroken("no new owner came after the forced release");
    }

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(fixture.open(), name)).as("a third owner gets it").isFalse();
  }

  /**
   * Races an owner against the release. A release in two steps would delete the lock of an owner
   * that comes between them, in one of these rounds.
   */
  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that nothing can come between comparing and deleting")
  void aReleaseComparesAndDeletesInOneStep() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    TckNode node = fixture.node(0);
    Seed seed = new Seed();
    try (Workers workers = new Workers()) {
      for (int round = 0; round < 50; round++) {
        String name = fixture.name("raced");
        Lease lease = fixture.take(locks, name, fixture.ttl());
        fixture.soon().until("the node holds it", () -> node.holder(name).isPresent());

        workers.start(() -> TckFixture.regardless(lease::release));
        seed.pauseUpTo(1_000);
        OnNodes.occupy(fixture, List.of(node), name);
        workers.join();
        // answered by the node after the release
        fixture.gets(locks, name);

        assertThat(node.holder(name))
            .as("round %d, %s: the key that came in the meantime still exists", round, seed)
            .hasValue(OnNodes.occupant(node));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release that is sent once more compares the token as well")
  void aReleaseThatIsSentOnceMoreSparesTheNextOwner() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("owed");
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    Lease lease = fixture.take(openBehind(link), name, fixture.ttl());
    link.after(name, 0, TckLink.Fate.LOST);
    TckFixture.regardless(lease::release);
    link.cut();
    int before = link.requests(name).size();

    OnNodes.occupy(fixture, List.of(node), name);
    link.mend();
    fixture.awaitRegardless("it is sent once more", () -> link.requests(name).size() > before);

    assertThat(OnNodes.isUntouched(fixture, node, name)).isTrue();
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is sent to the nodes that were silent, too")
  void aReleaseReachesNodesThatWereSilent() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    String name = fixture.name("silent");
    List<TckNode> silent = fixture.minority();
    LockManager locks = fixture.open(HASTY);
    Faults.begin(fixture, TckFault.FROZEN, silent, name);
    Lease lease = fixture.take(locks, name, fixture.ttl());

    TckFixture.regardless(lease::release);

    Faults.end(TckFault.FROZEN, silent, name);
    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release that no quorum answered is still done by nodes that wake up")
  void aReleaseThatNoNodeAnsweredIsDoneOnceTheNodesAnswer() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unanswered");
    List<TckNode> silent = fixture.blocking();
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, silent, name);

    TckFixture.regardless(lease::release);

    Faults.end(TckFault.FROZEN, silent, name);
    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is sent to the nodes that had refused the lock, too")
  void aReleaseReachesNodesThatHadRefused() {
    Needs.nodes(fixture, 3);
    Counts.needsRequests(fixture);
    String name = fixture.name("refused");
    List<TckNode> refusing = fixture.minority();
    OnNodes.occupy(fixture, refusing, name);
    LockManager locks = fixture.open();
    List<Long> unasked = requestsOf(refusing);
    Lease lease = fixture.take(locks, name, fixture.ttl());
    awaitMore(refusing, unasked);
    List<Long> asked = requestsOf(refusing);

    TckFixture.regardless(lease::release);

    awaitMore(refusing, asked);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is written to every node, also when a quorum has answered it")
  void afterManyReleasesNothingIsLeftOnAnyNode() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
      names.add(lease.name());
      TckFixture.regardless(lease::release);
    }

    assertNothingIsLeft(names);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that closing first writes the requested commands to every node")
  void releasesThatAManagerWasAskedForBeforeItClosedReachEveryNode() {
    Needs.nodes(fixture, 1);
    List<String> names = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      LockManager locks = fixture.open();
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        leases.add(OnNodes.take(fixture, locks, fixture.name("released"), fixture.ttl()));
      }
      leases.forEach(lease -> names.add(lease.name()));
      leases.forEach(lease -> TckFixture.regardless(lease::releaseAsync));
      locks.close();
    }

    assertNothingIsLeft(names);
  }

  /** Waits until no node holds any of these locks. */
  private void assertNothingIsLeft(List<String> names) {
    List<String> left = new ArrayList<>(names);
    fixture.awaitRegardless(
        "nothing is left",
        () -> {
          left.removeIf(name -> OnNodes.isFree(fixture.nodes(), name));
          return left.isEmpty();
        });
    assertThat(left).as("locks that a node still holds after their releases").isEmpty();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what the release of a lease says that was held until then")
  void theReleaseOfAHeldLeaseIsTrue() {
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());

    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what release() and releaseAsync() say of a lease whose validity is over")
  void theReleaseOfALeaseThatExpiredIsFalse() {
    LockManager locks = fixture.openForShortTtl();
    Lease one = fixture.take(locks, fixture.name("over"), fixture.briefTtl());
    Lease other = fixture.take(locks, fixture.name("over"), fixture.briefTtl());
    fixture.awaitOver(one);
    fixture.awaitOver(other);

    assertThat(one.release()).isFalse();
    assertThat(fixture.soon().get("the release is answered", other.releaseAsync())).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what the release of a lease says whose lock was taken away")
  void theReleaseOfALeaseThatWasTakenAwayIsFalse() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("taken");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), name);

    assertThat(lease.release()).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that a release is not cut short by an interrupt, and keeps the flag")
  void anInterruptedThreadCanRelease() {
    Lease lease = fixture.take(fixture.open(), fixture.name("interrupted"), fixture.ttl());

    Thread.currentThread().interrupt();
    boolean released = lease.release();
    boolean flag = Thread.interrupted();

    assertThat(released).isTrue();
    assertThat(flag).as("the interrupt is kept").isTrue();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what the release of a lease says whose lock is gone")
  void theReleaseOfALeaseThatWasRemovedIsFalse() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("removed");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    fixture.nodes().forEach(node -> node.remove(name));

    assertThat(lease.release()).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that a release is judged by a quorum, and not by each node")
  void theReleaseOfALeaseThatAQuorumHoldsIsTrue() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("kept");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    fixture.minority().forEach(node -> node.remove(name));

    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that releaseAsync() answers what release() would")
  void theAsynchronousReleaseOfAHeldLeaseIsTrue() {
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());

    assertThat(fixture.soon().get("the release is answered", lease.releaseAsync())).isTrue();
  }

  @Test
  @Rule("REL-4")
  @IfThisFails("check that a release without a quorum of answers is an outage, not an answer")
  void aReleaseThatNoQuorumAnswersIsAnOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unanswered");
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    Throwable thrown = catchThrowable(lease::release);

    assertThat(thrown).isInstanceOf(LockOutageException.class);
    assertThat(((LockOutageException) thrown).isOutcomeUnknown()).as("outcome unknown").isTrue();
    assertThat(lease.isHeld()).as("it is over for its holder anyway").isFalse();
  }

  @Test
  @Rule("REL-4")
  @IfThisFails("check that releaseAsync() fails where release() would throw")
  void anAsynchronousReleaseThatNoQuorumAnswersIsAnOutageToo() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unanswered");
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertThat(lease.releaseAsync())
        .failsWithin(fixture.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOfSatisfying(
            LockOutageException.class,
            outage -> assertThat(outage.isOutcomeUnknown()).as("outcome unknown").isTrue());
    assertThat(lease.isHeld()).as("it is over for its holder anyway").isFalse();
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release remembers its result")
  void aSecondReleaseGivesTheSameAnswerAndDoesNothing() throws InterruptedException {
    String name = fixture.name("twice");
    LockManager others = fixture.open();
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());

    boolean first = lease.release();
    boolean next = fixture.gets(others, name);

    assertThat(lease.release()).isEqualTo(first);
    lease.close();
    assertThat(next && fixture.gets(fixture.open(), name)).as("the next owner lost it").isFalse();
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that the release of a lost lease stays false, for any later holder")
  void aReleaseThatWasFalseStaysFalse() {
    String name = fixture.name("over");
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, name, fixture.briefTtl());
    fixture.awaitOver(lease);
    boolean first = lease.release();
    fixture.take(fixture.open(), name, fixture.ttl());

    assertThat(lease.release()).isEqualTo(first);
    assertThat(fixture.soon().get("the release is answered", lease.releaseAsync()))
        .isEqualTo(first);
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release that ended in an outage is not tried again by the next")
  void aReleaseThatWasAnOutageStaysOne() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("outage");
    Lease lease = fixture.take(fixture.open(HASTY), name, fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);
    String first = answerOf(lease);
    Faults.end(TckFault.FROZEN, fixture.blocking(), name);

    assertThat(answerOf(lease)).isEqualTo(first);
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a second release sends nothing")
  void aSecondReleaseAsksNoNode() {
    Counts.needsRequests(fixture);
    LockManager locks = fixture.open();

    Retries.anyOf( // a client may be late to send to nodes beyond a quorum
        () -> {
          Lease lease = OnNodes.take(fixture, locks, fixture.name("twice"), fixture.ttl());
          TckFixture.regardless(lease::release);
          long before = Counts.settledRequests(fixture);

          TckFixture.regardless(lease::release);
          lease.close();
          TckFixture.regardless(() -> fixture.soon().get("it is answered", lease.releaseAsync()));

          assertThat(Counts.requests(fixture)).as("requests that reached nodes").isEqualTo(before);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that releases whose answer never came are remembered for the next connection")
  void aReleaseWhoseConnectionBrokeIsSentOnceMoreOnTheNext() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("owed");
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    LockManager locks = openBehind(link);
    Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
    link.after(name, 0, TckLink.Fate.LOST);

    TckFixture.regardless(lease::release);
    link.cut();
    link.mend();

    awaitReleased(locks, node, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that a release that broke the connection itself is remembered, too")
  void aReleaseThatWasCutOffIsSentOnceMore() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("cut-off");
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    LockManager locks = openBehind(link);
    Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
    link.after(name, 0, TckLink.Fate.CUT);

    TckFixture.regardless(lease::release);
    fixture.soon().until("it was cut off", () -> link.requests(name).size() > 1);
    link.mend();

    awaitReleased(locks, node, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that keys of a failed attempt are also removed on a node that went down")
  void theKeyOfAFailedAttemptIsRemovedOnTheNextConnection() throws InterruptedException {
    Needs.nodes(fixture, 3);
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    LockManager locks = openBehind(link, HASTY);
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
    String name = fixture.name("owed");
    OnNodes.occupy(fixture, fixture.nodes().subList(1, fixture.nodes().size()), name);
    link.after(name, 1, TckLink.Fate.LOST);

    fixture.gets(locks, name);
    fixture.awaitRegardless("it was acquired and released", () -> link.requests(name).size() > 1);
    if (link.requests(name).size() < 2) {
      AnotherRule.isBroken("a failed attempt is not released");
    }
    if (node.holder(name).isEmpty()) {
      abort("this backend takes more than one request for an attempt");
    }
    link.cut();
    link.mend();

    awaitReleased(locks, node, name);
  }

  @Test
  @Rule("REL-7")
  @IfThisFails("check that close() logs a warning where release() would return false")
  void closingALeaseThatWasLostThrowsNothingAndWarns() {
    String name = fixture.name("lost");
    Lease lease = fixture.take(fixture.openForShortTtl(), name, fixture.briefTtl());
    fixture.awaitOver(lease);

    Logs.assertClosingWarns(fixture, lease);
  }

  @Test
  @Rule("REL-7")
  @IfThisFails("check that close() logs a warning where release() would throw")
  void closingALeaseThatNoNodeAnswersThrowsNothingAndWarns() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("unreachable");
    LockManager locks = fixture.open(HASTY);
    Lease lease = fixture.take(locks, name, fixture.ttl());
    Lease probe = fixture.take(locks, fixture.name("probe"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    if (!(catchThrowable(probe::release) instanceof LockOutageException)) {
      AnotherRule.isBroken("a release without an answer is no outage");
    }

    Logs.assertClosingWarns(fixture, lease);
  }

  @Test
  @Rule("REL-8")
  @IfThisFails("check that a release removes the lock, and that close() waits for the answer")
  void aReleasedLockCanBeAcquiredAtOnce() throws InterruptedException {
    LockManager holder = fixture.open();
    LockManager others = fixture.open();
    for (ReleaseWay way : ReleaseWay.values()) {
      for (int round = 0; round < 20; round++) {
        Lease lease = fixture.take(holder, fixture.name("free"), fixture.ttl());
        way.release(fixture, lease);
        assertThat(fixture.gets(others, lease.name()))
            .as("granted to another owner after %s", way)
            .isTrue();
      }
    }
  }

  @Test
  @Rule("REL-8")
  @IfThisFails("check that a manager remembers nothing of a lock that it released")
  void aReleasedLockCanBeAcquiredAtOnceByTheSameManager() throws InterruptedException {
    String name = fixture.name("free");
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, name, fixture.ttl());

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(locks, name)).isTrue();
  }

  /** Leaves the test out if there is no next connection to the node. */
  private void awaitReleased(LockManager locks, TckNode node, String name) {
    fixture.awaitRegardless("the node was released", () -> node.holder(name).isEmpty());
    if (node.holder(name).isPresent()) {
      Attempts.needsVote(fixture, locks, node);
    }
    assertThat(node.holder(name)).as("left on the node").isEmpty();
  }

  private static String answerOf(Lease lease) {
    try {
      return String.valueOf(lease.release());
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName();
    }
  }

  private static List<Long> requestsOf(List<TckNode> nodes) {
    return nodes.stream().map(node -> node.requests().orElseThrow()).toList();
  }

  private void awaitMore(List<TckNode> nodes, List<Long> before) {
    for (int i = 0; i < nodes.size(); i++) {
      TckNode node = nodes.get(i);
      long count = before.get(i);
      fixture
          .soon()
          .until(
              node.address() + " is asked once more", () -> node.requests().orElseThrow() > count);
    }
  }

  /** Opens a manager that reaches the first node by a link. */
  private LockManager openBehind(TckLink link, String... options) {
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    return fixture.openOn(uris, options);
  }
}
