package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes, connections and processes go, and come back. */
public abstract class FaultRules {
  /** Longer than a driver may hold on to a connection that is silent. */
  private static final Duration LONG_SILENCE = Duration.ofMillis(1_300);

  private static final String HASTY = "nodeTimeout=100ms";

  private static final Duration SILENCE = Duration.ofMillis(1_100);

  private static final int IN_A_ROW = 30;

  /** The same on a machine that is too busy for all of them. */
  private static final int FEW_IN_A_ROW = 3;

  private static final long BETWEEN_CALLS_NANOS = 5_000_000;

  final TckFixture fixture;

  public FaultRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that a quorum is enough, whichever nodes it is made of")
  void anyMinorityMayBeFrozen() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open("nodeTimeout=1s", "quorumTimeout=5s");
    long begun = System.nanoTime();
    for (List<TckNode> minority : minorities()) {
      fixture.needsTime(begun, "minorities");
      Retries.anyOf(() -> assertNotMissed(TckFault.FROZEN, minority, locks));
    }
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that a quorum is enough when the others' connections end")
  void theFirstNodesMayBeDead() throws InterruptedException {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);

    assertNotMissed(TckFault.DEAD, fixture.minority(), OnNodes.open(fixture, TckFixture.NO_OUTAGE));
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that no node counts for more than another")
  void theLastNodesMayBeDead() throws InterruptedException {
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    List<TckNode> last = fixture.nodes().subList(fixture.quorum(), fixture.nodes().size());

    assertNotMissed(TckFault.DEAD, last, OnNodes.open(fixture, TckFixture.NO_OUTAGE));
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that the errors of some nodes spoil nothing that the others grant")
  void anyMinorityMayRefuse() throws InterruptedException {
    Needs.of(fixture, TckFault.REFUSING);
    Needs.nodes(fixture, 3);
    LockManager locks = OnNodes.open(fixture, TckFixture.NO_OUTAGE);
    for (List<TckNode> minority : minorities()) {
      assertNotMissed(TckFault.REFUSING, minority, locks);
    }
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that a right that is missing on some nodes spoils nothing")
  void anyMinorityMayForbid() throws InterruptedException {
    Needs.of(fixture, TckFault.FORBIDDEN);
    Needs.nodes(fixture, 3);
    LockManager locks = OnNodes.open(fixture, TckFixture.NO_OUTAGE);
    for (List<TckNode> minority : minorities()) {
      assertNotMissed(TckFault.FORBIDDEN, minority, locks);
    }
  }

  @Test
  @Rule("FAULT-1")
  @IfThisFails("check that answers that come after the decision are not taken for others'")
  void aMinorityMayBeSlow() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(TckFixture.NO_OUTAGE);
    Seed seed = new Seed();
    Slowing slowing = new Slowing(fixture.minority(), seed);
    fixture.atEnd(slowing::end);
    for (int i = 0; i < IN_A_ROW; i++) {
      assertGotExtendedAndReleased(locks, fixture.name("slow"), "nodes were slow; " + seed);
    }
    slowing.end();
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails("check that nodes are asked side by side, and stragglers awaited for nodeTimeout")
  void aMinorityThatHangsDelaysNoCallBeyondItsTimeout() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    Duration nodeTimeout = Duration.ofMillis(450); // a machine stalls for less

    Retries.anyOf(
        () -> {
          // a new one each time, because it soon knows which nodes hang
          LockManager locks =
              fixture.open("nodeTimeout=" + nodeTimeout.toMillis() + "ms", TckFixture.NO_OUTAGE);
          TckFixture.regardless(() -> longestOfCallsFor(Duration.ZERO, locks));
          Faults.whileFrozen(
              fixture,
              fixture.minority(),
              () ->
                  assertCallsTakeLessThan(
                      nodeTimeout.multipliedBy(7).dividedBy(4), Duration.ZERO, locks));
        });
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails("check that no call waits for a connection that is given up, or made again")
  void aMinorityThatHangsForLongDelaysNoCall() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(HASTY);

    Retries.anyOf(
        () -> {
          TckFixture.regardless(() -> longestOfCallsFor(Duration.ZERO, locks));
          Faults.whileFrozen(
              fixture,
              fixture.minority(),
              () ->
                  assertCallsTakeLessThan(
                      fixture.allowance().plusMillis(100), LONG_SILENCE, locks));
        });
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that a node that is silent is asked again, on a new connection if need be")
  void nodesThatWereFrozenVoteAgain() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(HASTY);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    long begun = System.nanoTime();
    Call.begin(() -> longestOfCallsFor(SILENCE, locks));
    fixture.soon().until("there was silence", () -> Elapsed.since(begun).compareTo(SILENCE) > 0);

    Faults.end(TckFault.FROZEN, fixture.minority(), "");

    Attempts.awaitVotes(fixture, locks, fixture.minority());
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails(
      "check that a node that is gone is tried again and again, and the loss of all is not final")
  void nodesThatWereDeadVoteAgain() {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open(HASTY);
    Faults.begin(fixture, TckFault.DEAD, fixture.minority(), "");
    TckFixture.regardless(() -> locks.tryAcquire(fixture.name("without-some"), fixture.ttl()));
    Faults.begin(fixture, TckFault.DEAD, sound(fixture.minority()), "");
    TckFixture.regardless(() -> locks.tryAcquire(fixture.name("without-any"), fixture.ttl()));

    Faults.end(TckFault.DEAD, fixture.nodes(), "");

    Attempts.awaitVotes(fixture, locks, fixture.nodes());
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that a connection that ended is made again")
  void nodesWhoseConnectionsWereCutVoteAgain() {
    Needs.of(fixture, TckFault.CUT);
    LockManager locks = fixture.open();

    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");

    Attempts.awaitVotes(fixture, locks, fixture.nodes());
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @IfThisFails("check that the driver's replay and its retries are switched off")
  void aRequestWhoseReplyWasLostIsNotSentAgain() {
    assertNotSentAgain(TckLink.Fate.REPLY_CUT);
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @IfThisFails("check that the driver's replay and its retries are switched off")
  void aRequestThatWasCutOffIsNotSentAgain() {
    assertNotSentAgain(TckLink.Fate.CUT);
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @IfThisFails("check that an extension is not sent again either: it may be late by then")
  void anExtensionWhoseReplyWasLostIsNotSentAgain() {
    Needs.of(fixture, LockCapability.EXTENSION);
    TckLink link = Needs.link(fixture, firstWithLink());
    LockManager locks = fixture.openOn(List.of(link.uri()));
    String name = fixture.name("extended");
    Lease lease = fixture.take(locks, name, fixture.ttl());
    TckFixture.regardless(
        () -> lease.extend(fixture.ttl())); // which brings the node what others need
    int before = link.requests(name).size();
    link.after(name, 0, TckLink.Fate.REPLY_CUT);

    TckFixture.regardless(() -> lease.extend(fixture.ttl().plusSeconds(10)));

    link.mend();
    Attempts.untilGotAgain(fixture, locks, fixture.name("again"));
    List<String> requests = link.requests(name);
    assertFirstOnce(requests.subList(before, requests.size()));
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @IfThisFails("check that nothing is kept for a node that is away, but what takes its locks away")
  void requestsMadeWhileANodeIsDownAreNotSentLater() {
    TckNode node = firstWithLink();
    TckLink link = Needs.link(fixture, node);
    LockManager locks = fixture.openOn(List.of(link.uri()), "nodeTimeout=300ms");
    List<String> names = new ArrayList<>();
    link.cut();
    for (int i = 0; i < 5; i++) {
      String name = fixture.name("away");
      names.add(name);
      TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));
    }

    link.mend();

    Attempts.untilGotAgain(fixture, locks, fixture.name("again"));
    assertThat(Attempts.stays(() -> names.stream().allMatch(name -> node.holder(name).isEmpty())))
        .as("nothing is taken later")
        .isTrue();
  }

  @Test
  @Rule("FAULT-5")
  @IfThisFails("check that a script is sent whole where it is not known any more")
  void forgottenScriptsCostOneAttemptAtMost() {
    Needs.of(fixture, TckFault.SCRIPTS_FORGOTTEN);
    LockManager locks = fixture.open();
    Attempting attempting = new Attempting(locks);
    attempting.untilWell(3);
    for (int i = 0; i < 5; i++) {
      forgetScripts();
      assertThat(attempting.untilWell(3)).as("attempts that failed").isLessThanOrEqualTo(1);
    }
  }

  @Test
  @Rule("FAULT-5")
  @IfThisFails("check that an extension is sent whole where its script is not known any more")
  void forgottenScriptsCostOneExtensionAtMost() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.SCRIPTS_FORGOTTEN);
    Lease lease = fixture.take(fixture.open(), fixture.name("extended"), fixture.ttl());
    for (int i = 0; i < 5; i++) {
      forgetScripts();
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      assertThatCode(() -> lease.extend(fixture.ttl())).doesNotThrowAnyException();
    }
  }

  @Test
  @Rule("FAULT-5")
  @IfThisFails("check that a release is sent whole where its script is not known any more")
  void forgottenScriptsCostOneReleaseAtMost() {
    Needs.of(fixture, TckFault.SCRIPTS_FORGOTTEN);
    LockManager locks = fixture.open();
    for (int i = 0; i < 5; i++) {
      Lease first = fixture.take(locks, fixture.name("first"), fixture.ttl());
      Lease second = fixture.take(locks, fixture.name("second"), fixture.ttl());
      forgetScripts();
      TckFixture.regardless(first::release);
      TckFixture.regardless(second::release);
      OnNodes.awaitFree(fixture, second.name());
    }
  }

  @Test
  @Rule("FAULT-5")
  @IfThisFails("check that an attempt that finds its connection gone waits for the next one")
  void cutConnectionsCostOneAttemptAtMost() {
    Needs.of(fixture, TckFault.CUT);

    Retries.anyOf( // a machine that stalls costs more
        () -> {
          Attempting attempting = new Attempting(fixture.open());
          attempting.untilWell(IN_A_ROW);
          for (List<TckNode> nodes : inGroupsThatCostOneAttempt(fixture.nodes())) {
            assertCostsOneAttempt(
                attempting, () -> nodes.forEach(node -> node.begin(TckFault.CUT, "")));
          }
        });
  }

  private void assertCostsOneAttempt(Attempting attempting, Runnable fault)
      throws InterruptedException {
    Call<?> happening =
        Call.begin(
            () -> {
              fault.run();
              return true;
            });

    int failed = attempting.whileNot(happening::isOver) + attempting.untilWell(IN_A_ROW);
    assertThat(failed).as("attempts that failed").isLessThanOrEqualTo(1);
  }

  @Test
  @Rule("FAULT-5")
  @IfThisFails("check that a node that restarts is done without, and then used again")
  void aServerThatRestartsCostsOneAttemptAtMost() {
    Needs.of(fixture, LockCapability.FAULT_TOLERANT);
    Needs.of(fixture, TckFault.DEAD);
    Needs.nodes(fixture, 3);
    TckNode node = fixture.node(1);

    Retries.anyOf( // a machine that stalls costs more
        () -> {
          Attempting attempting = new Attempting(fixture.open());
          attempting.untilWell(IN_A_ROW);
          assertCostsOneAttempt(
              attempting,
              () -> {
                node.begin(TckFault.DEAD, "");
                node.end(TckFault.DEAD, "");
              });
        });
  }

  @Test
  @Rule("FAULT-6")
  @IfThisFails("check that a lock is kept by its ttl alone, so that it ends with its renewals")
  void theLockOfAProcessThatDiesIsFreeWithinTheTtl() {
    Duration ttl = Duration.ofMillis(900);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          String name = fixture.name("process");
          OtherProcess holder =
              OtherProcess.holding(fixture, name, ttl, fixture.declares(LockCapability.KEEP_ALIVE));
          holder.awaitHeld();
          if (Attempts.once(locks, name, fixture.ttl()).isPresent()) {
            AnotherRule.isBroken("it blocks no client while it lives");
          }

          try (Stalls stalls = Stalls.watched()) {
            holder.kill();
            long killed = System.nanoTime();
            Attempts.untilGot(fixture, locks, name);

            assertThat(Elapsed.since(killed))
                .isLessThan(ttl.plus(fixture.allowance()).plus(stalls.worst()));
          }
        });
  }

  private List<TckNode> sound(List<TckNode> first) {
    return fixture.nodes().subList(first.size(), fixture.nodes().size());
  }

  private List<List<TckNode>> minorities() {
    return Subsets.of(fixture.nodes()).stream()
        .filter(some -> !some.isEmpty() && some.size() <= fixture.minority().size())
        .toList();
  }

  private void assertNotMissed(TckFault fault, List<TckNode> broken, LockManager locks)
      throws InterruptedException {
    String name = fixture.name("by-a-quorum");
    List<TckNode> sound = new ArrayList<>(fixture.nodes());
    sound.removeAll(broken);
    Faults.begin(fixture, fault, broken, name);
    try {
      assertGotExtendedAndReleased(
          locks, name, fault + " are " + broken.stream().map(TckNode::address).toList());
      fixture.soon().until("the remaining nodes released it", () -> OnNodes.isFree(sound, name));
    } finally {
      Faults.end(fault, broken, name);
    }
  }

  private void assertGotExtendedAndReleased(LockManager locks, String name, String when)
      throws InterruptedException {
    Optional<Lease> lease = Attempts.once(locks, name, fixture.ttl());
    assertThat(lease).as("got, while %s", when).isPresent();
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThatCode(() -> lease.orElseThrow().extend(fixture.ttl()))
          .as("extended, while %s", when)
          .doesNotThrowAnyException();
    }
    assertThatCode(() -> lease.orElseThrow().release())
        .as("released, while %s", when)
        .doesNotThrowAnyException();
  }

  /** Makes calls for a time, each of which takes less than a limit, stalls aside. */
  private void assertCallsTakeLessThan(Duration limit, Duration time, LockManager locks) {
    try (Stalls stalls = Stalls.watched()) {
      Call<Duration> calls = Call.begin(() -> longestOfCallsFor(time, locks));

      assertThat(calls.awaited(fixture).result().orElseThrow())
          .isLessThan(limit.plus(stalls.worst()));
    }
  }

  /**
   * Returns the longest time of the calls, at least one of each kind, whose results other rules
   * cover.
   */
  private Duration longestOfCallsFor(Duration time, LockManager locks) throws InterruptedException {
    Duration longest = Duration.ZERO;
    long end = System.nanoTime() + time.toNanos();
    do {
      String name = fixture.name("call");
      String held = fixture.name("held");
      List<Lease> got = new ArrayList<>();
      List<Eventually.Assertions> calls =
          List.of(
              () -> locks.tryAcquire(name, fixture.ttl()).ifPresent(got::add),
              () -> got.forEach(lease -> lease.extend(fixture.ttl())),
              () -> locks.inspect(name),
              () -> got.forEach(Lease::close),
              () -> locks.forceRelease(name),
              () -> locks.tryAcquire(held, fixture.ttl()),
              () -> locks.forceRelease(held));
      for (Eventually.Assertions call : calls) {
        long begun = System.nanoTime();
        TckFixture.regardless(call);
        Duration took = Elapsed.since(begun);
        longest = longest.compareTo(took) > 0 ? longest : took;
      }
      LockSupport.parkNanos(BETWEEN_CALLS_NANOS);
    } while (System.nanoTime() < end);
    return longest;
  }

  private TckNode firstWithLink() {
    Needs.nodes(fixture, 1);
    return fixture.node(0);
  }

  private void assertNotSentAgain(TckLink.Fate fate) {
    TckLink link = Needs.link(fixture, firstWithLink());
    LockManager locks = fixture.openOn(List.of(link.uri()));
    String name = fixture.name("cut");
    link.after(name, 0, fate);

    TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));

    link.mend();
    Attempts.untilGotAgain(fixture, locks, fixture.name("again"));
    assertFirstOnce(link.requests(name));
  }

  /** Asserts that the first request is sent once. Later requests undo it, and may be repeated. */
  private static void assertFirstOnce(List<String> requests) {
    assertThat(requests).as("requests that the kit has seen").isNotEmpty();
    assertThat(requests.stream().filter(requests.get(0)::equals)).as("sent").hasSize(1);
  }

  /**
   * Nodes are cut one after the other while attempts run. Among four nodes two cuts cost one
   * attempt its quorum and the next two another, with each node at fault once.
   */
  private List<List<TckNode>> inGroupsThatCostOneAttempt(List<TckNode> nodes) {
    int votesThatCostOne = nodes.size() - fixture.quorum() + 1;
    int size = 2 * votesThatCostOne - 1;
    List<List<TckNode>> groups = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i += size) {
      groups.add(nodes.subList(i, Math.min(i + size, nodes.size())));
    }
    return groups;
  }

  private void forgetScripts() {
    Faults.begin(fixture, TckFault.SCRIPTS_FORGOTTEN, fixture.nodes(), "");
  }

  /** One attempt after the other. */
  private final class Attempting {
    private final LockManager locks;

    Attempting(LockManager locks) {
      this.locks = locks;
    }

    /** Makes attempts until a condition is true, and returns how many failed. */
    int whileNot(BooleanSupplier condition) throws InterruptedException {
      int failed = 0;
      while (!condition.getAsBoolean()) {
        failed += goesWell() ? 0 : 1;
      }
      return failed;
    }

    /** Makes attempts until so many in a row succeed, and returns how many failed. */
    int untilWell(int inARow) {
      int[] counts = new int[2];
      long begun = System.nanoTime();
      Duration enough = fixture.timing().soon().dividedBy(2); // a busy machine makes fewer
      fixture
          .soon()
          .until(
              inARow + " attempts went well",
              () -> {
                if (goesWell()) {
                  counts[0]++;
                } else {
                  counts[0] = 0;
                  counts[1]++;
                }
                return counts[0] == inARow
                    || (counts[0] >= FEW_IN_A_ROW && Elapsed.since(begun).compareTo(enough) > 0);
              });
      return counts[1];
    }

    private boolean goesWell() throws InterruptedException {
      try {
        Optional<Lease> lease = locks.tryAcquire(fixture.name("attempt"), fixture.ttl());
        lease.ifPresent(got -> TckFixture.regardless(got::release));
        return lease.isPresent();
      } catch (LockException e) {
        IgnoredFailures.add(e);
        return false;
      }
    }
  }

  /** Freezes some nodes for a short time, again and again. */
  private static final class Slowing {
    private final Call<?> call;
    private volatile boolean ending;

    Slowing(List<TckNode> nodes, Seed seed) {
      call =
          Call.begin(
              () -> {
                while (!ending) {
                  nodes.forEach(node -> node.begin(TckFault.FROZEN, ""));
                  seed.pauseUpTo(5_000);
                  nodes.forEach(node -> node.end(TckFault.FROZEN, ""));
                  LockSupport.parkNanos(1_000_000);
                }
                return true;
              });
    }

    void end() {
      ending = true;
      Eventually.within(Duration.ofSeconds(15)).until("nodes were fast again", call::isOver);
    }
  }
}
