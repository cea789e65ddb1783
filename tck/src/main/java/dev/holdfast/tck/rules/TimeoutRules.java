package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes are slow, or silent: calls wait for them as long as it helps, and no longer. */
public abstract class TimeoutRules {
  private static final Duration HOUR = Duration.ofHours(1);

  /** A node that is slow pauses for less. */
  private static final Duration SLOW_CALL = Duration.ofMillis(150);

  /** The sum of SPEC's table for a quorumTimeout of 400 ms and a nodeTimeout of 200 ms. */
  private static final Duration CLOSING = Duration.ofSeconds(2);

  private static final int CALLS_IN_A_ROW = 5;
  private static final int BURST = 12;

  /** Longer than clients wait for a reply, or leave a connection silent: two, three or five. */
  private static final Duration SECONDS = Duration.ofMillis(5_500);

  final TckFixture fixture;

  public TimeoutRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that quorumTimeout limits the wait for a quorum of answers, not nodeTimeout")
  void nodesThatAreAllSlowAreNoOutage() {
    Needs.of(fixture, TckFault.SLOW);

    assertWhileSlow(
        fixture.nodes(),
        locks -> {
          for (int i = 0; i < CALLS_IN_A_ROW; i++) {
            assertServed(locks, fixture.name("slow"));
          }
        });
  }

  /** Checks of a manager. */
  private interface Checks {
    void of(LockManager locks) throws Exception;
  }

  private void assertWhileSlow(List<TckNode> slow, Checks checks) {
    Retries.anyOf(
        () -> {
          LockManager locks = warm(); // one that knows of no silence yet
          Faults.during(fixture, TckFault.SLOW, slow, "", () -> checks.of(locks));
        });
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that inspect, forceRelease and ping wait for a quorum of answers, too")
  void inspectionsOfSlowNodesAreAnswered() {
    Needs.of(fixture, TckFault.SLOW);
    LockManager locks = fixture.openWithoutOptions();
    Lease lease = OnNodes.take(fixture, locks, fixture.name("seen"), fixture.foreignTtl());
    Faults.begin(fixture, TckFault.SLOW, fixture.nodes(), "");

    Retries.anyOf(
        () -> assertThat(locks.ping(fixture.timing().soon())).as("answered a ping").isTrue());
    if (fixture.declares(LockCapability.INSPECTION)) {
      Retries.anyOf(() -> assertThat(locks.inspect(lease.name())).as("inspected").isPresent());
    }
    if (fixture.declares(LockCapability.FORCE_RELEASE)) {
      Retries.anyOf(
          () -> {
            String name = fixture.name("forced");
            OnNodes.occupy(fixture, fixture.nodes(), name);
            assertThat(locks.forceRelease(name)).as("forced free").isTrue();
          });
    }
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that connectTimeout limits connecting alone, not the wait for replies")
  void nodesThatAreSlowerThanConnectTimeoutAreNoOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    LockManager locks = // lazy, so that a busy machine connects it at a later try
        fixture.open(
            "connect=lazy", "connectTimeout=500ms", "nodeTimeout=200ms", TckFixture.NO_OUTAGE);
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();

    Retries.anyOf(
        () -> {
          String name = fixture.name("slow");
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
          Call<Optional<Lease>> call = Call.begin(() -> locks.tryAcquire(name, fixture.ttl()));
          long begun = System.nanoTime();
          fixture
              .soon()
              .until(
                  "connectTimeout is over",
                  () -> Elapsed.since(begun).compareTo(Duration.ofMillis(900)) > 0);
          boolean isOver = call.isOver();
          Faults.end(TckFault.FROZEN, fixture.nodes(), name);

          assertThat(isOver).as("over before quorumTimeout: %s", call).isFalse();
          assertThat(call.awaited(fixture).result()).as("%s", call).isPresent();
          assertThat(call.result().get()).as("granted: %s", call).isPresent();
        });
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that a slow quorum is waited for though a minority hangs")
  void aSlowQuorumIsNoOutageThoughAMinorityHangs() {
    Needs.of(fixture, TckFault.SLOW, TckFault.FROZEN);
    Needs.nodes(fixture, 3);

    assertWhileSlow(
        fixture.nodesBut(fixture.minority()),
        locks ->
            Faults.whileFrozen(
                fixture, fixture.minority(), () -> assertServed(locks, fixture.name("slow"))));
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that renewals wait for a quorum of answers for quorumTimeout, too")
  void aLeaseIsKeptThoughAllNodesAreSlow() throws InterruptedException {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.of(fixture, TckFault.SLOW);
    Duration ttl = fixture.shortTtl().multipliedBy(3); // for backends that ask several times
    List<LockManager> idle = List.of(warm(), warm(), warm());
    LockManager locks = fixture.openWithoutOptions();

    Retries.anyOf(
        () -> {
          Faults.begin(fixture, TckFault.SLOW, fixture.nodes(), "");
          Lease lease =
              fixture.take(locks, LockRequest.of(fixture.name("kept"), ttl).keepAliveUpTo(HOUR));
          awaitElapsedOrOver(ttl.multipliedBy(3).dividedBy(2), System.nanoTime(), lease);
          boolean held = lease.isHeld();
          Faults.end(TckFault.SLOW, fixture.nodes(), "");
          if (!held) {
            Renewals.needed(fixture);
          }

          assertThat(held).as("held after one and a half of its ttl").isTrue();
        });
    assertServedAfterSeconds(idle);
  }

  private LockManager warm() {
    LockManager locks = fixture.openWithoutOptions();
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
    return locks;
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that a silent connection is given up after quorumTimeout, and not before")
  void nodesThatAreSilentForSecondsAreNoOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    LockManager locks = fixture.open("nodeTimeout=200ms", longer("quorumTimeout"));

    Retries.anyOf(
        () -> {
          Lease extended = OnNodes.take(fixture, locks, fixture.name("extended"), fixture.ttl());
          Lease released = OnNodes.take(fixture, locks, fixture.name("released"), fixture.ttl());
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
          CompletableFuture<Optional<Lease>> attempt =
              locks.tryAcquireAsync(fixture.request(fixture.name("silent")));
          CompletableFuture<?> extension =
              fixture.declares(LockCapability.EXTENSION)
                  ? extended.extendAsync(fixture.ttl())
                  : CompletableFuture.completedFuture(null);
          CompletableFuture<Boolean> release = released.releaseAsync();
          awaitElapsed(SECONDS, System.nanoTime());
          Faults.end(TckFault.FROZEN, fixture.nodes(), "");

          assertThat(fixture.soon().get("the attempt ends", attempt)).as("granted").isPresent();
          fixture.soon().get("it is extended", extension);
          assertThat(fixture.soon().get("the release ends", release)).as("released").isTrue();
        });
  }

  /** Asks each manager once at most: after that its connections are not idle any more. */
  private void assertServedAfterSeconds(List<LockManager> idle) throws InterruptedException {
    for (LockManager locks : idle) {
      if (Attempts.once(locks, fixture.name("idle"), fixture.ttl()).isPresent()) {
        return;
      }
    }
    throw new AssertionError("no manager whose connections were idle for seconds got a lock");
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails(
      "check that stragglers of a slow quorum are awaited for as long again, and no longer")
  void aMinorityThatHangsDelaysASlowCallByAsMuchAgainAtMost() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.of(fixture, TckFault.SLOW, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open("nodeTimeout=50ms", longer("quorumTimeout"));
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
    Faults.begin(fixture, TckFault.SLOW, fixture.nodesBut(fixture.minority()), "");
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Call<?> call = Call.begin(() -> locks.inspect(fixture.name("slow")));

            assertThat(call.awaited(fixture).took())
                .isLessThan(
                    SLOW_CALL.multipliedBy(2).plus(fixture.allowance()).plus(stalls.worst()));
          }
        });
  }

  @Test
  @Rule("KEEP-5")
  @IfThisFails("check that a third of the ttl is counted from the beginning of the attempt")
  void aGrantThatTookMostOfItsTtlIsRenewedAtOnce() {
    Needs.nodeOptions(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    Duration ttl = fixture.shortTtl().multipliedBy(6); // on a busy machine a node thaws slowly
    LockManager locks = fixture.open(longer("nodeTimeout"));
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();

    Retries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(fixture.name("late"), ttl).keepAliveUpTo(HOUR);
          Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), request.name());
          long begun = System.nanoTime();
          CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(request);
          awaitElapsed(ttl.multipliedBy(3).dividedBy(4), begun);
          Faults.end(TckFault.FROZEN, fixture.blocking(), request.name());
          Optional<Lease> granted = fixture.soon().get("the attempt ends", future);
          assertThat(granted).as("granted in time").isPresent();
          Lease lease = granted.get();
          awaitElapsedOrOver(ttl.multipliedBy(5).dividedBy(4), begun, lease);
          if (!lease.isHeld()) {
            Renewals.needed(fixture);
          }

          assertThat(lease.isHeld()).as("renewed before its ttl was over").isTrue();
        });
  }

  @Test
  @Rule("EXT-9")
  @IfThisFails("check that an extension waits for answers until its lease ends, and no longer")
  void anExtensionIsOverWhenItsLeaseEnds() {
    Needs.nodeOptions(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    Duration ttl = fixture.shortTtl();
    LockManager locks = fixture.open(longer("nodeTimeout"));

    Retries.anyOf(
        () -> {
          Lease lease = fixture.take(locks, fixture.name("hangs"), ttl);
          try (Stalls stalls = Stalls.watched()) {
            Faults.during(
                fixture,
                TckFault.FROZEN,
                fixture.blocking(),
                lease.name(),
                () -> {
                  Call<Boolean> extension =
                      Call.begin(
                          () -> {
                            lease.extend(fixture.ttl());
                            return true;
                          });

                  assertThat(extension.awaited(fixture).took())
                      .as("time that an extension took, with a ttl of %s", ttl)
                      .isLessThan(ttl.plus(fixture.allowance()).plus(stalls.worst()));
                });
          }
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a kept lease which ends during a renewal ends by UNREACHABLE")
  void aKeptLeaseThatEndsDuringARenewalIsUnreachable() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(longer("nodeTimeout"));

    Retries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(fixture.name("renewed"), fixture.shortTtl());
          Lease lease = fixture.take(locks, request.keepAliveUpTo(HOUR));
          Faults.during(
              fixture,
              TckFault.FROZEN,
              fixture.nodes(),
              lease.name(),
              () -> fixture.awaitOver(lease));
          if (reasonOf(lease) == LossReason.EXPIRED) {
            Renewals.needed(fixture);
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.UNREACHABLE);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease which ends during its holder's own extension ends by EXPIRED")
  void aLeaseThatEndsDuringItsHoldersExtensionHasExpired() throws Exception {
    Needs.nodeOptions(fixture);
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    Lease lease =
        fixture.take(
            fixture.open(longer("nodeTimeout")), fixture.name("extended"), fixture.shortTtl());

    Faults.during(
        fixture,
        TckFault.FROZEN,
        fixture.nodes(),
        lease.name(),
        () -> {
          Call.begin(
              () -> {
                lease.extend(fixture.ttl());
                return true;
              });
          fixture.awaitOver(lease);
        });

    assertThat(reasonOf(lease)).isEqualTo(LossReason.EXPIRED);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that a release is sent behind an unanswered extension")
  void aReleaseDoesNotWaitForAnExtensionThatHangs() {
    Needs.nodes(fixture, 1);
    TckLink link = Needs.link(fixture, fixture.node(0));
    LockManager locks = fixture.openOn(List.of(link.uri()), longer("nodeTimeout"));
    Lease lease = fixture.take(locks, fixture.name("hangs"), fixture.ttl());
    TckFixture.regardless(
        () -> lease.extend(fixture.ttl())); // which brings the node what others need
    String name = lease.name();
    int before = link.requests(name).size();
    link.after(name, 0, TckLink.Fate.LOST);
    try {
      CompletableFuture<Void> extension = lease.extendAsync(fixture.ttl());
      fixture.soon().until("it is about to be extended", () -> link.requests(name).size() > before);
      int extended = countOnceItStays(() -> link.requests(name).size());

      lease.releaseAsync();

      fixture
          .soon()
          .until("it is about to be released", () -> link.requests(name).size() > extended);
      fixture.soon().until("the extension is over", extension::isDone);
    } finally {
      link.cut(); // so that no call waits for the lost request
    }
  }

  /** Returns a count of commands when no more come, because an extension may be several. */
  private static int countOnceItStays(IntSupplier count) {
    int last = count.getAsInt();
    while (true) {
      int seen = last;
      if (Attempts.stays(() -> count.getAsInt() == seen)) {
        return seen;
      }
      last = count.getAsInt();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that an extension sends nothing more, such as its script, behind a release")
  void anExtensionPutsNoKeyBackBehindARelease() {
    Needs.of(fixture, TckFault.FROZEN, TckFault.SCRIPTS_FORGOTTEN);
    LockManager locks = fixture.open(longer("nodeTimeout"));
    Lease other = OnNodes.take(fixture, locks, fixture.name("other"), fixture.ttl());
    Lease lease = OnNodes.take(fixture, locks, fixture.name("hangs"), fixture.ttl());
    Faults.begin(fixture, TckFault.SCRIPTS_FORGOTTEN, fixture.nodes(), lease.name());
    TckFixture.regardless(other::release); // which brings the nodes the script of a release alone
    fixture.awaitRegardless(
        "the other is free", () -> OnNodes.isFree(fixture.nodes(), other.name()));
    if (!OnNodes.isFree(fixture.nodes(), other.name())) {
      AnotherRule.isBroken("a release is not sent whole where its script is not known");
    }

    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
    lease.extendAsync(fixture.ttl());
    lease.releaseAsync();
    Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());

    OnNodes.awaitFree(fixture, lease.name());
    assertThat(Attempts.stays(() -> OnNodes.isFree(fixture.nodes(), lease.name())))
        .as("it stays free")
        .isTrue();
  }

  @Test
  @Rule("REL-10")
  @IfThisFails("check that a release that is answered in time is not warned of, however slow it is")
  void aReleaseThatIsAnsweredInTimeIsNotWarnedOf() {
    Needs.of(fixture, TckFault.FROZEN);
    Lease lease =
        fixture.take(fixture.open(longer("nodeTimeout")), fixture.name("slow"), fixture.ttl());
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
      Call<Boolean> closing = closing(lease);
      awaitElapsed(Duration.ofMillis(300), System.nanoTime());
      Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());
      closing.awaited(fixture);

      assertThat(logs.warnings()).noneMatch(line -> line.contains(lease.name()));
    }
  }

  @Test
  @Rule("REL-10")
  @IfThisFails("check that unconfirmed releases cause at most one warning a second")
  void aBurstOfReleasesThatNoNodeAnswersIsWarnedOfOnceASecond() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=300ms");
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      leases.add(fixture.take(locks, fixture.name("burst"), fixture.ttl()));
    }
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
      long begun = System.nanoTime();
      List<Call<Boolean>> closing = leases.stream().map(TimeoutRules::closing).toList();
      closing.forEach(call -> call.awaited(fixture));

      assertThat(logs.warnings())
          .filteredOn(line -> leases.stream().anyMatch(lease -> line.contains(lease.name())))
          .as("warnings of %d releases", BURST)
          .hasSizeLessThanOrEqualTo(1 + (int) Elapsed.since(begun).toSeconds());
    }
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that closing waits for no node that hangs, also on its subscription")
  void aManagerThatHadAWaiterIsClosedInTimeWhileNodesHang() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    Needs.nodeOptions(fixture);
    Contender contender = Contender.holding(fixture, fixture.name("busy"));
    LockManager locks = fixture.open("quorumTimeout=400ms", "nodeTimeout=200ms");
    CompletableFuture<?> waiter =
        locks.tryAcquireAsync(fixture.request(contender.name()).waitForever());
    fixture.awaitPast(System.nanoTime(), Attempts.LOOK); // it is subscribed now
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    try (Stalls stalls = Stalls.watched()) {
      Call<?> closing =
          Call.begin(
              () -> {
                locks.close();
                return "closed";
              });

      assertThat(closing.awaited(fixture).took())
          .as("the time of closing")
          .isLessThan(CLOSING.plus(fixture.allowance()).plus(stalls.worst()));
    }
    fixture.soon().until("the waiter has ended", waiter::isDone);
  }

  @Test
  @Rule("WAIT-15")
  @IfThisFails("check the result of a wait behind an attempt that no quorum has answered")
  void aWaitBehindAnAttemptThatNoNodeAnswersIsAnOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=100ms", longer("quorumTimeout"));

    Retries.anyOf(
        () -> {
          LockRequest request = fixture.request(fixture.name("hangs"));
          Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), request.name());
          Call<Lease> head = Call.begin(() -> locks.acquire(request.waitForever()));
          fixture.awaitRegardless("a thread waits", head::isWaiting);
          if (!head.isWaiting()) {
            AnotherRule.isBroken("the head does not wait");
          }
          LockRequest queued = request.waitAtMost(Duration.ofMillis(400));
          List<Call<?>> waiters =
              List.of(
                  Call.begin(() -> locks.tryAcquire(queued)),
                  Call.begin(() -> locks.acquire(queued)),
                  Call.begin(() -> locks.tryAcquireAsync(queued).join()));
          fixture.awaitRegardless("they are over", () -> waiters.stream().allMatch(Call::isOver));
          head.interrupt();
          Faults.end(TckFault.FROZEN, fixture.blocking(), request.name());
          if (!waiters.stream().allMatch(Call::isOver)) {
            AnotherRule.isBroken("they do not wait in the queue");
          }

          assertThat(waiters).allSatisfy(TimeoutRules::assertOutage);
        });
  }

  private void assertServed(LockManager locks, String name) throws InterruptedException {
    Optional<Lease> lease = Attempts.once(locks, name, fixture.ttl());
    assertThat(lease).as("got, while nodes are slow").isPresent();
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThatCode(() -> lease.orElseThrow().extend(fixture.ttl()))
          .as("extended, while nodes are slow")
          .doesNotThrowAnyException();
    }
    assertThatCode(() -> lease.orElseThrow().release())
        .as("released, while nodes are slow")
        .doesNotThrowAnyException();
  }

  private static void assertOutage(Call<?> call) {
    Throwable thrown = call.thrown().orElseThrow(() -> new AssertionError("no outage: " + call));
    assertThat(thrown.getCause() instanceof LockOutageException ? thrown.getCause() : thrown)
        .isInstanceOf(LockOutageException.class);
  }

  private static Call<Boolean> closing(Lease lease) {
    return Call.begin(
        () -> {
          lease.close();
          return true;
        });
  }

  /** Sets a timeout that is longer than the kit waits for anything. */
  private String longer(String timeOut) {
    return timeOut + "=" + fixture.timing().soon().multipliedBy(2).toMillis() + "ms";
  }

  private void awaitElapsed(Duration time, long begun) {
    within(time).until("time passes", () -> Elapsed.since(begun).compareTo(time) > 0);
  }

  private void awaitElapsedOrOver(Duration time, long begun, Lease lease) {
    within(time)
        .until(
            "time passes, or it is over",
            () -> Elapsed.since(begun).compareTo(time) > 0 || !lease.isHeld());
  }

  /** Waits for the given time, and as long again as the kit waits for anything. */
  private Eventually within(Duration time) {
    return Eventually.within(time.plus(fixture.timing().soon()));
  }

  private static @Nullable LossReason reasonOf(Lease lease) {
    LockLostException lost = catchThrowableOfType(LockLostException.class, lease::requireHeld);
    return lost == null ? null : lost.reason();
  }
}
