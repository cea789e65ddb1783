package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about fresh answers: no answer shows an earlier state. */
public abstract class FreshnessRules {
  /**
   * The number of refusals after which a manager may assume that the next attempt is refused, too.
   */
  private static final int REFUSALS = 300;

  /** Tolerance for two clocks that are read one after the other. */
  private static final Duration SLACK = Duration.ofMillis(2);

  /** The time that calls wait for nodes that are frozen. */
  private static final Duration SILENCE = Duration.ofSeconds(3);

  /** Between two extensions of a lease. */
  private static final Duration APART = Duration.ofMillis(100);

  final TckFixture fixture;

  public FreshnessRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that inspect asks the backend each time, and remembers nothing")
  void inspectShowsTheCurrentHolder() {
    Needs.of(fixture, LockCapability.INSPECTION);
    String name = fixture.name("inspected");
    LockManager operator = fixture.open();
    if (operator.inspect(name).isPresent()) {
      AnotherRule.isBroken("a holder is shown although the lock is free");
    }
    Lease first = OnNodes.take(fixture, fixture.open("owner=first"), name, fixture.ttl());
    String owner = seen(operator, name).ownerLabel();
    Attempts.release(fixture, first);
    OnNodes.awaitFree(fixture, name);

    assertThat(operator.inspect(name)).as("after the release").isEmpty();

    OnNodes.take(fixture, fixture.open("owner=second"), name, fixture.ttl());
    assertThat(seen(operator, name).ownerLabel()).as("the next owner").isNotEqualTo(owner);
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that inspect asks the backend about what the manager itself holds, too")
  void inspectShowsTheOwnerThatTookALockFromThisVeryManager() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.nodes(fixture, 1);
    String name = fixture.name("inspected");
    LockManager locks = fixture.open("owner=first");
    OnNodes.take(fixture, locks, name, fixture.ttl());
    String owner = seen(locks, name).ownerLabel();

    fixture.nodes().forEach(node -> node.occupy(name, "another", fixture.foreignTtl()));

    assertThat(seen(locks, name).ownerLabel()).as("the next owner").isNotEqualTo(owner);
    fixture.nodes().forEach(node -> node.remove(name));
    assertThat(locks.inspect(name)).as("once it is removed").isEmpty();
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that no call shares the answers to one that began before it")
  void anInspectionBesideAnotherShowsTheLaterState() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open("nodeTimeout=1s", "quorumTimeout=3s");
    List<TckNode> silent = fixture.minority();
    Retries.anyOf( // a machine that stalls is an outage
        () -> {
          String name = fixture.name("inspected");
          fixture.nodes().forEach(node -> node.occupy(name, "another", fixture.foreignTtl()));
          Faults.whileFrozen(
              fixture,
              silent,
              () -> {
                Call.begin(() -> locks.inspect(name)); // waits for the silent nodes
                Attempts.stays(APART, () -> true);
                fixture.nodesBut(silent).forEach(node -> node.remove(name));

                assertThat(locks.inspect(name)).as("once it is removed").isEmpty();
              });
        });
  }

  @Test
  @Rule("EXT-5")
  @IfThisFails("check that each extension asks the nodes, however soon it follows another one")
  void anExtensionRightAfterAnotherFindsThatTheLockIsGone() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (Duration ttl : List.of(fixture.ttl(), fixture.ttl().plusSeconds(7))) {
      Retries.anyOf( // a machine that stalls is an outage
          () -> {
            String name = fixture.name("extended");
            Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
            lease.extend(ttl);
            fixture.nodes().forEach(node -> node.remove(name));

            assertThatThrownBy(() -> lease.extend(ttl))
                .as("the second extension to %s", ttl)
                .isInstanceOf(LockLostException.class);
          });
    }
  }

  /**
   * Checks that each of two inspections asks: a node that has not answered the first one may have
   * looked before the second one began.
   */
  @Test
  @Rule("RES-2")
  @IfThisFails("check that no two inspections share a command")
  void inspectionsAtTheSameTimeAskTheNodesEach() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.of(fixture, TckFault.FROZEN);
    Counts.needsRequests(fixture);
    String name = fixture.name("inspected");
    Retries.anyOf( // a machine that stalls ends connections
        () -> {
          LockManager locks = fixture.open("nodeTimeout=2s", "quorumTimeout=5s");
          long ofOne = fewestRequestsOf(() -> locks.inspect(name));
          long before = Counts.settledRequests(fixture);
          List<Call<?>> calls = new ArrayList<>();

          Faults.whileFrozen(
              fixture,
              fixture.nodes(),
              () -> {
                for (int i = 0; i < 2; i++) {
                  calls.add(Call.begin(() -> locks.inspect(name)));
                  Attempts.stays(APART, () -> true);
                }
              });
          calls.forEach(call -> call.awaited(fixture));

          assertThat(Counts.settledRequests(fixture) - before)
              .as("the requests of two inspections")
              .isGreaterThanOrEqualTo(2 * ofOne);
        });
  }

  private long fewestRequestsOf(Runnable call) {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) { // the first one may bring nodes what they need
      long before = Counts.settledRequests(fixture);
      TckFixture.regardless(call::run);
      fewest = Math.min(fewest, Counts.settledRequests(fixture) - before);
    }
    return fewest;
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that no manager remembers that a lock was taken, however often it was")
  void aLockThatWasRefusedOftenIsGrantedOnceItIsFree() {
    Retries.anyOf( // a machine that stalls is an outage
        () -> {
          LockManager locks = fixture.open();
          String name = fixture.name("refused");
          Contender contender = Contender.holding(fixture, name);
          long begun = System.nanoTime();
          for (int i = 0; i < REFUSALS && fixture.isEarly(begun); i++) {
            Attempts.refused(fixture, locks, name);
          }

          contender.letGo();

          assertThat(fixture.gets(locks, name)).as("granted at once").isTrue();
        });
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that the holder which is named is asked for when the wait is over")
  void theHolderThatIsNamedIsTheCurrentOne() {
    Needs.of(fixture, LockCapability.INSPECTION);
    String name = fixture.name("held");
    LockManager locks = fixture.open();
    Lease first = OnNodes.take(fixture, fixture.open("owner=first"), name, fixture.ttl());
    Optional<String> holder = holderNamed(locks, name);
    Attempts.release(fixture, first);
    OnNodes.awaitFree(fixture, name);
    OnNodes.take(fixture, fixture.open("owner=second"), name, fixture.ttl());

    Optional<String> next = holderNamed(locks, name);

    if (holder.isPresent() && next.isPresent()) {
      assertThat(next).isNotEqualTo(holder);
    }
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that isHeld() checks each time, also shortly after another call")
  void aLeaseIsSeenToBeOverRightAfterItsRelease() {
    LockManager locks = fixture.open();
    for (int i = 0; i < 5; i++) {
      Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
      lease.requireHeld();
      boolean held = lease.isHeld();

      TckFixture.regardless(lease::release);

      assertThat(held).isTrue();
      assertThat(lease.isHeld()).as("held after its release").isFalse();
      assertThat(catchThrowable(lease::requireHeld)).as("required after its release").isNotNull();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @IfThisFails("check that isHeld() looks at the clock each time it is asked")
  void isHeldIsFalseFromTheEndOnHoweverOftenItIsAsked() {
    LockManager locks = fixture.openForShortTtl();
    for (int i = 0; i < 3; i++) {
      Lease lease = fixture.take(locks, fixture.name("ends"), fixture.briefTtl());
      Duration left = lease.remaining();
      long end = System.nanoTime() + left.plus(SLACK).toNanos();
      if (left.compareTo(fixture.briefTtl()) > 0) {
        AnotherRule.isBroken("more is left than was asked for");
      }

      boolean held = true;
      while (held) {
        long asked = System.nanoTime();
        held = lease.isHeld();
        assertThat(held && asked > end).as("held after its end").isFalse();
        LockSupport.parkNanos(100_000);
      }
    }
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check that the declaration depends neither on nodes nor on earlier calls")
  void theDeclarationDoesNotChangeWithTheState() {
    LockManager lazy = fixture.open("connect=lazy");
    assertThat(lazy.capabilities()).as("before it connects").isEqualTo(fixture.capabilities());
    LockManager locks = fixture.open("nodeTimeout=150ms");
    if (!fixture.nodes().isEmpty() && Faults.areKnown(fixture, TckFault.FROZEN)) {
      String name = fixture.name("silent");
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);
      TckFixture.regardless(() -> locks.tryAcquire(name, fixture.ttl()));
      assertThat(locks.capabilities()).as("in an outage").isEqualTo(fixture.capabilities());
      Faults.end(TckFault.FROZEN, fixture.blocking(), name);
    }

    locks.close();

    assertThat(locks.capabilities()).as("once it is closed").isEqualTo(fixture.capabilities());
  }

  private Optional<String> holderNamed(LockManager locks, String name) {
    LockRequest once = fixture.request(name).waitAtMost(Duration.ZERO);
    return Optional.ofNullable(
            catchThrowableOfType(LockContendedException.class, () -> locks.acquire(once)))
        .flatMap(LockContendedException::holder);
  }

  private static LockStatus seen(LockManager operator, String name) {
    return operator
        .inspect(name)
        .orElseThrow(() -> new AssertionError(name + " is held, and inspect shows no holder"));
  }

  @Test
  @Rule("EXT-10")
  @IfThisFails("check that each extension asks the nodes, also while another one is in flight")
  void anExtensionCountsFromItsOwnCallAndNotFromThatOfAnother() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=5s");

    Retries.anyOf(
        () -> {
          Lease lease = OnNodes.take(fixture, locks, fixture.name("two"), fixture.ttl());
          Extended alone = new Extended(lease);
          alone.awaitEnd();
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
          Extended first = new Extended(lease);
          first.awaitApart();
          Extended second = new Extended(lease);
          second.awaitWaiting();
          Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());
          first.awaitEnd();
          second.awaitEnd();
          second.awaitApart();
          Extended third = new Extended(lease);
          third.awaitEnd();

          assertThat(List.of(second.spent(), third.spent()))
              .as("time that extensions lack which began %s after another", APART)
              .allMatch(spent -> spent.minus(alone.spent()).compareTo(APART.dividedBy(2)) < 0);
        });
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that each extension asks the nodes, also soon after another one")
  void anExtensionSoonAfterAnotherFindsThatTheLockIsGone() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (int round = 0; round < 10; round++) {
      Lease lease = OnNodes.take(fixture, locks, fixture.name("removed"), fixture.ttl());
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      fixture.nodes().forEach(node -> node.remove(lease.name()));

      assertThat(catchThrowable(() -> lease.extend(fixture.ttl())))
          .as("thrown by an extension of a lock that is gone")
          .isNotNull();
    }
  }

  /** An extension by the usual ttl. */
  private final class Extended {
    private final Lease lease;
    private final long called = System.nanoTime();
    private final Call<Boolean> call;
    private Duration spent = Duration.ZERO;

    Extended(Lease lease) {
      this.lease = lease;
      call =
          Call.begin(
              () -> {
                lease.extendAsync(fixture.ttl()).join();
                return true;
              });
    }

    void awaitApart() {
      fixture.awaitPast(called, APART);
    }

    /** Waits until the lease was asked, which a busy machine may delay. */
    void awaitWaiting() {
      fixture.awaitRegardless("an extension waits for nodes", call::isWaitingOrOver);
    }

    /** Leaves the test out if it fails, which is another rule's. */
    void awaitEnd() {
      if (call.awaited(fixture).result().isEmpty()) {
        AnotherRule.isBroken("a lease that is held is not extended");
      }
      spent = fixture.ttl().minus(lease.remaining()).minus(Elapsed.since(called));
    }

    /** Returns the time that remained less than the ttl and the time since the call explain. */
    Duration spent() {
      return spent;
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @IfThisFails("check that no lock is held during a call that waits for nodes")
  void aLeaseIsLookedAtWhileAnotherThreadWaitsInACallOfIt() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=" + SILENCE.toMillis() + "ms");
    Map<String, Consumer<Lease>> calls = new LinkedHashMap<>();
    if (fixture.declares(LockCapability.EXTENSION)) {
      calls.put("extend", lease -> lease.extend(fixture.ttl()));
    }
    if (fixture.declares(LockCapability.TRANSFER)) {
      calls.put("transfer", lease -> lease.transfer(fixture.ttl()));
    }
    calls.put("release", Lease::release);
    for (Map.Entry<String, Consumer<Lease>> call : calls.entrySet()) {
      Lease lease = fixture.take(locks, fixture.name("in-use"), fixture.ttl());
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
      Call<Boolean> waiting =
          Call.begin(
              () -> {
                TckFixture.regardless(() -> call.getValue().accept(lease));
                return true;
              });
      fixture.awaitRegardless("it waits for nodes", waiting::isWaiting);

      try (Stalls stalls = Stalls.watched()) {
        Call<Boolean> look =
            Call.begin(
                () -> {
                  lease.isHeld();
                  lease.remaining();
                  TckFixture.regardless(lease::requireHeld);
                  return true;
                });
        assertThat(look.awaited(fixture).took())
            .as("time of isHeld, remaining and requireHeld while %s waits", call.getKey())
            .isLessThan(SILENCE.dividedBy(2).plus(stalls.worst()));
      }
      Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());
      waiting.awaited(fixture);
      fixture.nodes().forEach(node -> Attempts.needsVote(fixture, locks, node));
    }
  }
}
