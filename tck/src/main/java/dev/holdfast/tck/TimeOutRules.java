package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes are slow, or silent: calls wait for them as long as it helps, and no longer. */
abstract class TimeOutRules {
  private static final Duration HOUR = Duration.ofHours(1);

  /** A node that is slow pauses for less. */
  private static final Duration SLOW_CALL = Duration.ofMillis(150);

  private static final int CALLS_IN_A_ROW = 5;
  private static final int BURST = 12;

  final Trial trial;

  TimeOutRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that quorumTimeout limits the wait for a quorum of answers, not nodeTimeout")
  void nodesThatAreAllSlowAreNoOutage() {
    trial.needs(TckFault.SLOW);
    LockManager locks = trial.openWithoutOptions();
    trial.take(locks, trial.name("warm"), trial.ttl()).close();
    trial.begin(TckFault.SLOW, trial.nodes(), "");

    Tries.anyOf(
        () -> {
          for (int i = 0; i < CALLS_IN_A_ROW; i++) {
            assertServed(locks, trial.name("slow"));
          }
        });
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that a slow quorum is waited for though a minority hangs")
  void aSlowQuorumIsNoOutageThoughAMinorityHangs() {
    trial.needs(TckFault.SLOW, TckFault.FROZEN);
    trial.needsNodes(3);
    LockManager locks = trial.openWithoutOptions();
    trial.take(locks, trial.name("warm"), trial.ttl()).close();
    trial.begin(TckFault.SLOW, trial.nodesBut(trial.minority()), "");
    trial.begin(TckFault.FROZEN, trial.minority(), "");

    Tries.anyOf(() -> assertServed(locks, trial.name("slow")));
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that renewals wait for a quorum of answers for quorumTimeout, too")
  void aLeaseIsKeptThoughAllNodesAreSlow() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needs(TckFault.SLOW);
    Duration ttl = trial.shortTtl().multipliedBy(3); // for backends that ask several times
    LockManager locks = trial.openWithoutOptions();

    Tries.anyOf(
        () -> {
          trial.begin(TckFault.SLOW, trial.nodes(), "");
          Lease lease =
              trial.take(locks, LockRequest.of(trial.name("kept"), ttl).keepAliveUpTo(HOUR));
          awaitElapsedOrOver(ttl.multipliedBy(3).dividedBy(2), System.nanoTime(), lease);
          boolean held = lease.isHeld();
          trial.end(TckFault.SLOW, trial.nodes(), "");
          if (!held) {
            trial.needsRenewals();
          }

          assertThat(held).as("held after one and a half of its ttl").isTrue();
        });
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails(
      "check that stragglers of a slow quorum are awaited for as long again, and no longer")
  void aMinorityThatHangsDelaysASlowCallByAsMuchAgainAtMost() {
    trial.needs(LockCapability.INSPECTION);
    trial.needs(TckFault.SLOW, TckFault.FROZEN);
    trial.needsNodes(3);
    LockManager locks = trial.open("nodeTimeout=50ms", longer("quorumTimeout"));
    trial.take(locks, trial.name("warm"), trial.ttl()).close();
    trial.begin(TckFault.SLOW, trial.nodesBut(trial.minority()), "");
    trial.begin(TckFault.FROZEN, trial.minority(), "");

    Tries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Call<?> call = Call.begin(() -> locks.inspect(trial.name("slow")));

            assertThat(call.awaited(trial).took())
                .isLessThan(SLOW_CALL.multipliedBy(2).plus(trial.allowance()).plus(stalls.worst()));
          }
        });
  }

  @Test
  @Rule("KEEP-5")
  @IfThisFails("check that a third of the ttl is counted from the beginning of the attempt")
  void aGrantThatTookMostOfItsTtlIsRenewedAtOnce() {
    trial.needsNodeOptions();
    trial.needs(TckFault.FROZEN);
    Duration ttl = trial.shortTtl().multipliedBy(6); // on a busy machine a node thaws slowly
    LockManager locks = trial.open(longer("nodeTimeout"));
    trial.take(locks, trial.name("warm"), trial.ttl()).close();

    Tries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(trial.name("late"), ttl).keepAliveUpTo(HOUR);
          trial.begin(TckFault.FROZEN, trial.blocking(), request.name());
          long begun = System.nanoTime();
          CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(request);
          awaitElapsed(ttl.multipliedBy(3).dividedBy(4), begun);
          trial.end(TckFault.FROZEN, trial.blocking(), request.name());
          Optional<Lease> granted = trial.soon().get("the attempt ends", future);
          assertThat(granted).as("granted in time").isPresent();
          Lease lease = granted.get();
          awaitElapsedOrOver(ttl.multipliedBy(5).dividedBy(4), begun, lease);
          if (!lease.isHeld()) {
            trial.needsRenewals();
          }

          assertThat(lease.isHeld()).as("renewed before its ttl was over").isTrue();
        });
  }

  @Test
  @Rule("EXT-9")
  @IfThisFails("check that an extension waits for answers until its lease ends, and no longer")
  void anExtensionIsOverWhenItsLeaseEnds() {
    trial.needsNodeOptions();
    trial.needs(TckFault.FROZEN);
    Duration ttl = trial.shortTtl();
    LockManager locks = trial.open(longer("nodeTimeout"));

    Tries.anyOf(
        () -> {
          Lease lease = trial.take(locks, trial.name("hangs"), ttl);
          try (Stalls stalls = Stalls.watched()) {
            trial.during(
                TckFault.FROZEN,
                trial.blocking(),
                lease.name(),
                () -> {
                  Call<Boolean> extension =
                      Call.begin(
                          () -> {
                            lease.extend(trial.ttl());
                            return true;
                          });

                  assertThat(extension.awaited(trial).took())
                      .as("time that an extension took, with a ttl of %s", ttl)
                      .isLessThan(ttl.plus(trial.allowance()).plus(stalls.worst()));
                });
          }
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a kept lease which ends during a renewal ends by UNREACHABLE")
  void aKeptLeaseThatEndsDuringARenewalIsUnreachable() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open(longer("nodeTimeout"));

    Tries.anyOf(
        () -> {
          LockRequest request = LockRequest.of(trial.name("renewed"), trial.shortTtl());
          Lease lease = trial.take(locks, request.keepAliveUpTo(HOUR));
          trial.during(TckFault.FROZEN, trial.nodes(), lease.name(), () -> trial.awaitOver(lease));
          if (reasonOf(lease) == LossReason.EXPIRED) {
            trial.needsRenewals();
          }

          assertThat(reasonOf(lease)).isEqualTo(LossReason.UNREACHABLE);
        });
  }

  @Test
  @Rule("LOSS-4")
  @IfThisFails("check that a lease which ends during its holder's own extension ends by EXPIRED")
  void aLeaseThatEndsDuringItsHoldersExtensionHasExpired() throws Exception {
    trial.needsNodeOptions();
    trial.needs(LockCapability.EXTENSION);
    trial.needs(TckFault.FROZEN);
    Lease lease =
        trial.take(trial.open(longer("nodeTimeout")), trial.name("extended"), trial.shortTtl());

    trial.during(
        TckFault.FROZEN,
        trial.nodes(),
        lease.name(),
        () -> {
          Call.begin(
              () -> {
                lease.extend(trial.ttl());
                return true;
              });
          trial.awaitOver(lease);
        });

    assertThat(reasonOf(lease)).isEqualTo(LossReason.EXPIRED);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that a release is sent behind an extension that nobody has answered")
  void aReleaseDoesNotWaitForAnExtensionThatHangs() {
    trial.needsNodes(1);
    TckLink link = trial.needsLink(trial.node(0));
    LockManager locks = trial.openOn(List.of(link.uri()), longer("nodeTimeout"));
    Lease lease = trial.take(locks, trial.name("hangs"), trial.ttl());
    Trial.regardless(() -> lease.extend(trial.ttl())); // which brings the node what others need
    String name = lease.name();
    int before = link.requests(name).size();
    link.after(name, 0, TckLink.Fate.LOST);
    try {
      CompletableFuture<Void> extension = lease.extendAsync(trial.ttl()).toCompletableFuture();
      trial.soon().until("it is to be extended", () -> link.requests(name).size() > before);
      int extended = link.requests(name).size();

      lease.releaseAsync();

      trial.soon().until("it is to be released", () -> link.requests(name).size() > extended);
      trial.soon().until("the extension is over", extension::isDone);
    } finally {
      link.cut(); // so that nobody waits for what was lost
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that an extension sends nothing more, such as its script, behind a release")
  void anExtensionPutsNoKeyBackBehindARelease() {
    trial.needs(TckFault.FROZEN, TckFault.SCRIPTS_FORGOTTEN);
    LockManager locks = trial.open(longer("nodeTimeout"));
    Lease other = trial.takeOnAll(locks, trial.name("other"), trial.ttl());
    Lease lease = trial.takeOnAll(locks, trial.name("hangs"), trial.ttl());
    trial.begin(TckFault.SCRIPTS_FORGOTTEN, trial.nodes(), lease.name());
    Trial.regardless(other::release); // which brings the nodes the script of a release alone
    trial.awaitRegardless("the other is free", () -> trial.isFreeOn(trial.nodes(), other.name()));
    if (!trial.isFreeOn(trial.nodes(), other.name())) {
      abort("a release is not sent whole where its script is not known, which is another rule's");
    }

    trial.begin(TckFault.FROZEN, trial.nodes(), lease.name());
    lease.extendAsync(trial.ttl());
    lease.releaseAsync();
    trial.end(TckFault.FROZEN, trial.nodes(), lease.name());

    trial.awaitFree(lease.name());
    assertThat(Attempts.stays(() -> trial.isFreeOn(trial.nodes(), lease.name())))
        .as("it stays free")
        .isTrue();
  }

  @Test
  @Alone
  @Rule("REL-10")
  @IfThisFails("check that a release that is answered in time is not warned of, however slow it is")
  void aReleaseThatIsAnsweredInTimeIsNotWarnedOf() {
    trial.needs(TckFault.FROZEN);
    Lease lease = trial.take(trial.open(longer("nodeTimeout")), trial.name("slow"), trial.ttl());
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      trial.begin(TckFault.FROZEN, trial.nodes(), lease.name());
      Call<Boolean> closing = closing(lease);
      awaitElapsed(Duration.ofMillis(300), System.nanoTime());
      trial.end(TckFault.FROZEN, trial.nodes(), lease.name());
      closing.awaited(trial);

      assertThat(logs.warnings()).noneMatch(line -> line.contains(lease.name()));
    }
  }

  @Test
  @Alone
  @Rule("REL-10")
  @IfThisFails("check that releases that nobody confirms are warned of at most once a second")
  void aBurstOfReleasesThatNobodyAnswersIsWarnedOfOnceASecond() {
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open("nodeTimeout=300ms");
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      leases.add(trial.take(locks, trial.name("burst"), trial.ttl()));
    }
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      trial.begin(TckFault.FROZEN, trial.nodes(), "");
      long begun = System.nanoTime();
      List<Call<Boolean>> closing = leases.stream().map(TimeOutRules::closing).toList();
      closing.forEach(call -> call.awaited(trial));

      assertThat(logs.warnings())
          .filteredOn(line -> leases.stream().anyMatch(lease -> line.contains(lease.name())))
          .as("warnings of %d releases", BURST)
          .hasSizeLessThanOrEqualTo(1 + (int) Elapsed.since(begun).toSeconds());
    }
  }

  @Test
  @Rule("WAIT-15")
  @IfThisFails("check what ends a wait in line behind an attempt that no quorum has answered")
  void aWaitBehindAnAttemptThatNobodyAnswersIsAnOutage() {
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open("nodeTimeout=100ms", longer("quorumTimeout"));

    Tries.anyOf(
        () -> {
          LockRequest request = trial.request(trial.name("hangs"));
          trial.begin(TckFault.FROZEN, trial.blocking(), request.name());
          Call<Lease> head = Call.begin(() -> locks.acquire(request.waitForever()));
          trial.awaitRegardless("a thread waits", head::isWaiting);
          if (!head.isWaiting()) {
            abort("the head does not wait, which is another rule's");
          }
          LockRequest inLine = request.waitAtMost(Duration.ofMillis(400));
          List<Call<?>> waiters =
              List.of(
                  Call.begin(() -> locks.tryAcquire(inLine)),
                  Call.begin(() -> locks.acquire(inLine)),
                  Call.begin(() -> locks.tryAcquireAsync(inLine).join()));
          trial.awaitRegardless("they are over", () -> waiters.stream().allMatch(Call::isOver));
          head.interrupt();
          trial.end(TckFault.FROZEN, trial.blocking(), request.name());
          if (!waiters.stream().allMatch(Call::isOver)) {
            abort("they do not wait in line, which is another rule's");
          }

          assertThat(waiters).allSatisfy(TimeOutRules::assertOutage);
        });
  }

  private void assertServed(LockManager locks, String name) throws InterruptedException {
    Optional<Lease> lease = Attempts.once(locks, name, trial.ttl());
    assertThat(lease).as("got, while nodes are slow").isPresent();
    if (trial.declares(LockCapability.EXTENSION)) {
      assertThatCode(() -> lease.orElseThrow().extend(trial.ttl()))
          .as("extended, while nodes are slow")
          .doesNotThrowAnyException();
    }
    assertThatCode(() -> lease.orElseThrow().release())
        .as("released, while nodes are slow")
        .doesNotThrowAnyException();
  }

  private static void assertOutage(Call<?> call) {
    Throwable thrown = call.thrown().orElseThrow(() -> new AssertionError("no outage: " + call));
    assertThat(thrown.getCause() instanceof LockBackendException ? thrown.getCause() : thrown)
        .isInstanceOf(LockBackendException.class);
  }

  private static Call<Boolean> closing(Lease lease) {
    return Call.begin(
        () -> {
          lease.close();
          return true;
        });
  }

  /** Sets a time-out that is longer than the kit waits for anything. */
  private String longer(String timeOut) {
    return timeOut + "=" + trial.timing().soon().multipliedBy(2).toMillis() + "ms";
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

  /** With as much more as the kit waits for anything. */
  private Eventually within(Duration time) {
    return Eventually.within(time.plus(trial.timing().soon()));
  }

  private static @Nullable LossReason reasonOf(Lease lease) {
    LockLostException lost = catchThrowableOfType(LockLostException.class, lease::requireHeld);
    return lost == null ? null : lost.reason();
  }
}
