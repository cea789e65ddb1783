package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The time for which a lock keeps others out: its ttl, or a longer time that was requested. */
public abstract class ExpiryRules {
  /** The number of locks that expire one after the other. */
  private static final int EXPIRIES = 40;

  /** Longer than some attempts take, so that contenders ask when a lock expires. */
  private static final Duration BETWEEN_EXPIRIES = Duration.ofMillis(8);

  /** Longer than a timer comes late. */
  private static final Duration TIMER = Duration.ofMillis(150);

  final TckFixture fixture;

  public ExpiryRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails(
      "check that the ttl is set in the same step as the lock, and from the time of asking")
  void aLockThatIsNotReleasedIsGrantedToOthersButNotWhileItIsValid() {
    String name = fixture.name("abandoned");
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, name, fixture.briefTtl());
    long end = System.nanoTime() + lease.remaining().toNanos();

    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - end))
        .as("time from the end of its validity to the next grant")
        .isPositive();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that a lock ends without its holder, which may be gone")
  void theLockOfAHolderThatIsGoneEnds() {
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    List<String> names = SimilarNames.of(fixture.name("gone"));
    for (String name : names) {
      fixture.take(locks, name, fixture.briefTtl());
    }

    locks.close();

    for (String name : names) {
      fixture.soon().until("others get " + name, () -> fixture.gets(other, name));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that an inspection does not make the lock last longer")
  void theLockOfAHolderThatIsGoneEndsHoweverOftenItIsLookedAt() {
    Needs.of(fixture, LockCapability.INSPECTION);
    String name = fixture.name("looked-at");
    LockManager holder = fixture.openForShortTtl();
    LockManager other = fixture.open();
    fixture.take(holder, name, fixture.shortTtl());
    holder.close();

    Duration late = fixture.shortTtl().multipliedBy(4);
    boolean isShown = Attempts.stays(late, () -> isShown(other, name));
    assertThat(isShown && Attempts.stays(() -> isShown(other, name)))
        .as("shown to an operator who inspects it again and again, four times its ttl later")
        .isFalse();
  }

  /** Takes an outage of a machine that stalls for no answer. */
  private static boolean isShown(LockManager locks, String name) {
    try {
      return locks.inspect(name).isPresent();
    } catch (LockOutageException e) {
      IgnoredFailures.add(e);
      return true;
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that a lease that was released leaves no timer that ends the next one")
  void aLockOutlastsTheTtlOfTheLeaseBeforeIt() throws InterruptedException {
    LockManager holder = fixture.openForShortTtl();
    LockManager other = fixture.openForShortTtl();
    LockManager contender = fixture.open();
    Duration brief = fixture.briefTtl();
    List<Lease> held = new ArrayList<>();
    for (LockManager next : List.of(holder, other)) {
      for (ReleaseWay way : ReleaseWay.values()) {
        Lease before = fixture.take(holder, fixture.name("before"), brief);
        way.release(fixture, before);
        held.add(fixture.take(next, before.name(), brief.multipliedBy(6)));
      }
    }

    Attempts.stays(brief.plus(TIMER), () -> true);

    for (Lease lease : held) {
      assertThat(fixture.gets(contender, lease.name()) && lease.isHeld())
          .as("granted to two owners once the ttl of a former lease was over")
          .isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails("check that each node drops a lock after its ttl, but not before its validity ends")
  void eachNodeKeepsALockForItsTtlAndNoLonger() {
    Needs.nodes(fixture, 1);
    String name = fixture.name("kept");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    fixture
        .soon()
        .until(
            "a quorum holds the lock",
            () -> OnNodes.count(fixture, name, lease.token()) >= fixture.quorum());

    for (TckNode node : fixture.nodes()) {
      if (node.holder(name).isPresent()) {
        long before = System.nanoTime();
        Duration valid = lease.remaining();
        Duration kept = node.timeToLive(name);
        Duration between = Duration.ofNanos(System.nanoTime() - before).plusMillis(1);

        assertThat(kept)
            .as("time to live on %s", node.address())
            .isLessThanOrEqualTo(fixture.ttl().plusMillis(1))
            .isGreaterThanOrEqualTo(valid.minus(between));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails(
      "check that an early release shortens the lock to holdAtLeast instead of removing it")
  void aLockThatIsReleasedEarlyKeepsOthersOutForItsMinimum() {
    OnNodes.needsExpiry(fixture);
    String name = fixture.name("at-least");
    Duration atLeast = fixture.briefTtl();
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    long asked = System.nanoTime();
    Lease lease = fixture.take(locks, LockRequest.of(name, fixture.ttl()).holdAtLeast(atLeast));

    TckFixture.regardless(lease::release);
    awaitGot(other, name);

    assertThat(Duration.ofNanos(System.nanoTime() - asked))
        .as("time from the first request to the next grant")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails(
      "check that a manager does not take its own lock for free before holdAtLeast is over")
  void aLockThatIsReleasedEarlyKeepsTheSameManagerOutAsWell() throws InterruptedException {
    String name = fixture.name("at-least");
    LockManager locks = fixture.open();
    Lease lease =
        fixture.take(locks, LockRequest.of(name, fixture.ttl()).holdAtLeast(fixture.ttl()));

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(locks, name)).as("granted to the same manager").isFalse();
  }

  /** Gets a lock as soon as it is free, asking no more often than needed. */
  private void awaitGot(LockManager locks, String name) {
    OnNodes.awaitFree(fixture, name);
    fixture.soon().until("others get the lock", () -> fixture.gets(locks, name));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that a lock that has expired is taken over in one step: compared and set")
  void aLockThatExpiresIsGrantedToOneContenderOnly() throws InterruptedException {
    LockManager gone = fixture.openForShortTtl();
    List<LockManager> contenders = List.of(fixture.open(), fixture.open());
    List<String> names = new ArrayList<>();
    Duration end = fixture.briefTtl();
    for (int i = 0; i < EXPIRIES; i++) {
      names.add(fixture.take(gone, fixture.name("expires"), end).name());
      end = end.plus(BETWEEN_EXPIRIES);
    }
    gone.close(); // a manager that is there may remove a lock before it expires
    List<Queue<Lease>> got =
        names.stream().<Queue<Lease>>map(name -> new ConcurrentLinkedQueue<>()).toList();

    for (int i = 0; i < EXPIRIES / 2; i++) {
      askUntilOneGetsIt(contenders, fixture.request(names.get(i)), got.get(i));
    }
    List<Asking> ways = List.of(Asking.values());
    Laps laps = new Laps(contenders.size());
    try (Workers workers = new Workers()) {
      for (LockManager contender : contenders) {
        workers.start(
            () -> {
              for (int i = EXPIRIES / 2; i < EXPIRIES; i++) {
                Asking way = ways.get(i % ways.size());
                LockRequest request = fixture.request(names.get(i)).waitAtMost(Duration.ZERO);
                Queue<Lease> leases = got.get(i);
                laps.untilOneWins(i, () -> won(way, contender, request, leases));
              }
            });
      }
      workers.join();
    }

    if (got.stream().anyMatch(leases -> leases.size() > 1)) {
      needsAttemptsThatSpareOthers(contenders.get(0));
    }
    assertThat(got)
        .as("grants of locks that had expired, by managers that asked at the same time")
        .allSatisfy(leases -> assertThat(leases).hasSize(1));
  }

  /** Leaves the test out if a failed attempt removes what another owner holds. */
  private void needsAttemptsThatSpareOthers(LockManager locks) throws InterruptedException {
    String name = fixture.name("foreign");
    OnNodes.occupy(fixture, fixture.nodes(), name);
    boolean got = !fixture.nodes().isEmpty() && fixture.gets(locks, name);
    if (got
        || !fixture.nodes().stream().allMatch(node -> OnNodes.isUntouched(fixture, node, name))) {
      AnotherRule.isBroken("a failed attempt changes another owner's lock");
    }
  }

  /** Asks with all managers at the same time, again and again. */
  private void askUntilOneGetsIt(
      List<LockManager> contenders, LockRequest request, Queue<Lease> leases) {
    while (leases.isEmpty()) {
      List<CompletableFuture<Optional<Lease>>> asked =
          contenders.stream().map(contender -> contender.tryAcquireAsync(request)).toList();
      for (CompletableFuture<Optional<Lease>> one : asked) {
        Attempts.answered(fixture, one).ifPresent(leases::add);
      }
    }
  }

  private static boolean won(
      Asking way, LockManager contender, LockRequest request, Queue<Lease> leases)
      throws InterruptedException {
    try {
      Optional<Lease> lease = way.ask(contender, request);
      lease.ifPresent(leases::add);
      return lease.isPresent();
    } catch (LockException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }
}
