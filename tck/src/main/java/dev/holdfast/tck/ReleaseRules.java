package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock is given back. */
abstract class ReleaseRules {
  private static final String HASTY = "nodeTimeout=150ms";

  final Trial trial;

  ReleaseRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token and deletes in one step")
  void aLateReleaseSparesTheNextOwner() throws InterruptedException {
    String name = trial.name("late");
    LockManager locks = trial.openForShortTtl();
    Lease first = trial.take(locks, name, trial.briefTtl());
    trial.awaitOver(first);
    Lease second = trial.take(locks, name, trial.ttl());

    Trial.regardless(first::release);

    assertThat(second.isHeld()).isTrue();
    assertThat(trial.gets(trial.open(), name)).as("a third owner gets it").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token on each node by itself")
  void aReleaseSparesWhatAnotherOwnerHoldsByNow() {
    trial.needsNodes(1);
    String name = trial.name("overwritten");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    trial.occupy(trial.nodes(), name);

    Trial.regardless(lease::release);

    assertThat(trial.nodes()).allMatch(node -> trial.isUntouched(node, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares the token, also where a lock was taken away by force")
  void aReleaseSparesWhoCameAfterAForcedRelease() throws InterruptedException {
    trial.needs(LockCapability.FORCE_RELEASE);
    String name = trial.name("forced");
    LockManager others = trial.open();
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    Trial.regardless(() -> others.forceRelease(name));
    if (!trial.gets(others, name)) {
      abort("nobody came after the forced release");
    }

    Trial.regardless(lease::release);

    assertThat(trial.gets(trial.open(), name)).as("a third owner gets it").isFalse();
  }

  /** Whoever looks first and deletes then deletes what came between, in one of these rounds. */
  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that nothing can come between comparing and deleting")
  void aReleaseComparesAndDeletesAsOne() throws InterruptedException {
    trial.needsNodes(1);
    LockManager locks = trial.open();
    TckNode node = trial.node(0);
    Seed seed = new Seed();
    try (Workers workers = new Workers()) {
      for (int round = 0; round < 50; round++) {
        String name = trial.name("raced");
        Lease lease = trial.take(locks, name, trial.ttl());
        trial.soon().until("the node holds it", () -> node.holder(name).isPresent());

        workers.start(() -> Trial.regardless(lease::release));
        seed.pauseUpTo(1_000);
        trial.occupy(List.of(node), name);
        workers.join();
        // answered by the node after the release
        trial.gets(locks, name);

        assertThat(node.holder(name))
            .as("round %d, %s: what came in the meantime is there", round, seed)
            .hasValue(Trial.occupant(node));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release that is sent once more compares the token as well")
  void aReleaseThatIsSentOnceMoreSparesTheNextOwner() {
    trial.needsNodes(3);
    String name = trial.name("owed");
    TckNode node = trial.node(0);
    TckLink link = trial.needsLink(node);
    Lease lease = trial.take(openBehind(link), name, trial.ttl());
    link.after(name, 0, TckLink.Fate.LOST);
    Trial.regardless(lease::release);
    link.cut();
    int before = link.requests(name).size();

    trial.occupy(List.of(node), name);
    link.mend();
    trial.awaitRegardless("it is sent once more", () -> link.requests(name).size() > before);

    assertThat(trial.isUntouched(node, name)).isTrue();
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is sent to the nodes that were silent, too")
  void aReleaseReachesNodesThatWereSilent() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    String name = trial.name("silent");
    List<TckNode> silent = trial.minority();
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.FROZEN, silent, name);
    Lease lease = trial.take(locks, name, trial.ttl());

    Trial.regardless(lease::release);

    trial.end(TckFault.FROZEN, silent, name);
    trial.awaitFree(name);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release that no quorum answered is still done by nodes that wake up")
  void aReleaseThatNobodyAnsweredIsDoneOnceTheyDo() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unanswered");
    List<TckNode> silent = trial.blocking();
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl());
    trial.begin(TckFault.FROZEN, silent, name);

    Trial.regardless(lease::release);

    trial.end(TckFault.FROZEN, silent, name);
    trial.awaitFree(name);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is sent to the nodes that had refused the lock, too")
  void aReleaseReachesNodesThatHadRefused() {
    trial.needsNodes(3);
    trial.needsCounts();
    String name = trial.name("refused");
    List<TckNode> refusing = trial.minority();
    trial.occupy(refusing, name);
    LockManager locks = trial.open();
    List<Long> unasked = requestsOf(refusing);
    Lease lease = trial.take(locks, name, trial.ttl());
    awaitMore(refusing, unasked);
    List<Long> asked = requestsOf(refusing);

    Trial.regardless(lease::release);

    awaitMore(refusing, asked);
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what the release of a lease says that was held until then")
  void theReleaseOfAHeldLeaseIsTrue() {
    Lease lease = trial.take(trial.open(), trial.name("held"), trial.ttl());

    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what release() and releaseAsync() say of a lease whose validity is over")
  void theReleaseOfALeaseThatExpiredIsFalse() {
    LockManager locks = trial.openForShortTtl();
    Lease one = trial.take(locks, trial.name("over"), trial.briefTtl());
    Lease other = trial.take(locks, trial.name("over"), trial.briefTtl());
    trial.awaitOver(one);
    trial.awaitOver(other);

    assertThat(one.release()).isFalse();
    assertThat(trial.soon().get("the release is answered", other.releaseAsync())).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check what the release of a lease says whose lock was taken away")
  void theReleaseOfALeaseThatWasTakenAwayIsFalse() {
    trial.needsNodes(1);
    String name = trial.name("taken");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    trial.occupy(trial.nodes(), name);

    assertThat(lease.release()).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that a release is not cut short by an interrupt, and keeps the flag")
  void whoIsInterruptedCanStillRelease() {
    Lease lease = trial.take(trial.open(), trial.name("interrupted"), trial.ttl());

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
    trial.needsNodes(1);
    String name = trial.name("removed");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.nodes().forEach(node -> node.remove(name));

    assertThat(lease.release()).isFalse();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that a release is judged by a quorum, and not by each node")
  void theReleaseOfALeaseThatAQuorumHoldsIsTrue() {
    trial.needsNodes(3);
    String name = trial.name("kept");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());
    trial.minority().forEach(node -> node.remove(name));

    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that releaseAsync() answers what release() would")
  void theAsynchronousReleaseOfAHeldLeaseIsTrue() {
    Lease lease = trial.take(trial.open(), trial.name("held"), trial.ttl());

    assertThat(trial.soon().get("the release is answered", lease.releaseAsync())).isTrue();
  }

  @Test
  @Rule("REL-4")
  @IfThisFails("check that a release without a quorum of answers is an outage, not an answer")
  void aReleaseThatNoQuorumAnswersIsAnOutage() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unanswered");
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    Throwable thrown = catchThrowable(lease::release);

    assertThat(thrown).isInstanceOf(LockBackendException.class);
    assertThat(((LockBackendException) thrown).outcomeUnknown()).as("outcome unknown").isTrue();
    assertThat(lease.isHeld()).as("it is over for its holder all the same").isFalse();
  }

  @Test
  @Rule("REL-4")
  @IfThisFails("check that releaseAsync() fails where release() would throw")
  void anAsynchronousReleaseThatNoQuorumAnswersIsAnOutageToo() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unanswered");
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    assertThat(lease.releaseAsync().toCompletableFuture())
        .failsWithin(trial.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockBackendException.class);
    assertThat(lease.isHeld()).as("it is over for its holder all the same").isFalse();
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release remembers what it answered")
  void aSecondReleaseGivesTheSameAnswerAndDoesNothing() throws InterruptedException {
    String name = trial.name("twice");
    LockManager others = trial.open();
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    boolean first = lease.release();
    boolean next = trial.gets(others, name);

    assertThat(lease.release()).isEqualTo(first);
    lease.close();
    assertThat(next && trial.gets(trial.open(), name)).as("the next owner lost it").isFalse();
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release of what was lost stays false, whoever holds the lock since")
  void aReleaseThatWasFalseStaysFalse() {
    String name = trial.name("over");
    LockManager locks = trial.openForShortTtl();
    Lease lease = trial.take(locks, name, trial.briefTtl());
    trial.awaitOver(lease);
    boolean first = lease.release();
    trial.take(trial.open(), name, trial.ttl());

    assertThat(lease.release()).isEqualTo(first);
    assertThat(trial.soon().get("the release is answered", lease.releaseAsync())).isEqualTo(first);
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release that ended in an outage is not tried again by the next")
  void aReleaseThatWasAnOutageStaysOne() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("outage");
    Lease lease = trial.take(trial.open(HASTY), name, trial.ttl());
    trial.begin(TckFault.FROZEN, trial.blocking(), name);
    String first = answerOf(lease);
    trial.end(TckFault.FROZEN, trial.blocking(), name);

    assertThat(answerOf(lease)).isEqualTo(first);
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a second release sends nothing")
  void aSecondReleaseAsksNobody() {
    trial.needsCounts();
    String name = trial.name("twice");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    Trial.regardless(lease::release);
    long before = trial.requestsWhenAllAreAnswered();

    Trial.regardless(lease::release);
    lease.close();
    Trial.regardless(() -> trial.soon().get("it is answered", lease.releaseAsync()));

    assertThat(trial.requests()).as("requests that reached nodes").isEqualTo(before);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that releases whose answer never came are remembered for the next connection")
  void aReleaseWhoseConnectionBrokeIsSentOnceMoreOnTheNext() {
    trial.needsNodes(3);
    String name = trial.name("owed");
    TckNode node = trial.node(0);
    TckLink link = trial.needsLink(node);
    LockManager locks = openBehind(link);
    Lease lease = trial.takeOnAll(locks, name, trial.ttl());
    link.after(name, 0, TckLink.Fate.LOST);

    Trial.regardless(lease::release);
    link.cut();
    link.mend();

    awaitReleased(locks, node, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that a release that broke the connection itself is remembered, too")
  void aReleaseThatWasCutOffIsSentOnceMore() {
    trial.needsNodes(3);
    String name = trial.name("cut-off");
    TckNode node = trial.node(0);
    TckLink link = trial.needsLink(node);
    LockManager locks = openBehind(link);
    Lease lease = trial.takeOnAll(locks, name, trial.ttl());
    link.after(name, 0, TckLink.Fate.CUT);

    Trial.regardless(lease::release);
    trial.soon().until("it was cut off", () -> link.requests(name).size() > 1);
    link.mend();

    awaitReleased(locks, node, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @IfThisFails("check that what an attempt in vain left on a node that went is removed as well")
  void whatAFailedAttemptLeftIsRemovedOnTheNextConnection() throws InterruptedException {
    trial.needsNodes(3);
    TckNode node = trial.node(0);
    TckLink link = trial.needsLink(node);
    LockManager locks = openBehind(link, HASTY);
    trial.take(locks, trial.name("warm"), trial.ttl()).close();
    String name = trial.name("owed");
    trial.occupy(trial.nodes().subList(1, trial.nodes().size()), name);
    link.after(name, 1, TckLink.Fate.LOST);

    trial.gets(locks, name);
    trial.awaitRegardless("it was asked and taken back", () -> link.requests(name).size() > 1);
    if (link.requests(name).size() < 2) {
      abort("what failed is not taken back, which is another rule's");
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
    String name = trial.name("lost");
    Lease lease = trial.take(trial.openForShortTtl(), name, trial.briefTtl());
    trial.awaitOver(lease);

    assertClosedWithAWarning(lease);
  }

  @Test
  @Rule("REL-7")
  @IfThisFails("check that close() logs a warning where release() would throw")
  void closingALeaseThatNobodyAnswersThrowsNothingAndWarns() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("unreachable");
    LockManager locks = trial.open(HASTY);
    Lease lease = trial.take(locks, name, trial.ttl());
    Lease probe = trial.take(locks, trial.name("probe"), trial.ttl());
    trial.begin(TckFault.FROZEN, trial.nodes(), name);
    if (!(catchThrowable(probe::release) instanceof LockBackendException)) {
      abort("a release that nobody answers is no outage, which is another rule's");
    }

    assertClosedWithAWarning(lease);
  }

  @Test
  @Rule("REL-8")
  @IfThisFails("check that a release removes the lock instead of leaving it to expire")
  void aReleasedLockCanBeGotAtOnce() throws InterruptedException {
    String name = trial.name("free");
    LockManager others = trial.open();
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    Trial.regardless(lease::release);

    assertThat(trial.gets(others, name)).isTrue();
  }

  @Test
  @Alone
  @Rule("REL-8")
  @IfThisFails("check that a manager remembers nothing of a lock that it released")
  void aReleasedLockCanBeGotAtOnceByTheSameManager() throws InterruptedException {
    String name = trial.name("free");
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, name, trial.ttl());

    Trial.regardless(lease::release);

    assertThat(trial.gets(locks, name)).isTrue();
  }

  /** Leaves the test out if there is no next connection to the node. */
  private void awaitReleased(LockManager locks, TckNode node, String name) {
    trial.awaitRegardless("the node was released", () -> node.holder(name).isEmpty());
    if (node.holder(name).isPresent()) {
      Attempts.needsVote(trial, locks, node);
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
      trial
          .soon()
          .until(
              node.address() + " is asked once more", () -> node.requests().orElseThrow() > count);
    }
  }

  /** Opens a manager that reaches the first node by a link. */
  private LockManager openBehind(TckLink link, String... options) {
    List<String> uris = trial.uris();
    uris.set(0, link.uri());
    return trial.openOn(uris, options);
  }

  private void assertClosedWithAWarning(Lease lease) {
    try (Logs logs = Logs.kept()) {
      assertThatCode(lease::close).doesNotThrowAnyException();

      logs.needsToBeSeen();
      trial
          .soon()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .as("warnings that are logged by System.Logger")
                      .anyMatch(line -> line.contains(lease.name())));
    }
  }
}
