package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about leases that have ended: every call says so, to every caller. */
public abstract class EndedLeaseRules {
  /** A loss takes microseconds, in which another thread has to ask. */
  private static final int ROUNDS = 60;

  /** Enough for one of them to be met without a stall. */
  private static final int ENDS = 3;

  final TckFixture fixture;

  public EndedLeaseRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does when its time is over")
  void aLeaseThatExpiredSaysSoWhateverItIsAsked() {
    Lease lease =
        fixture.take(fixture.openForShortTtl(), fixture.name("expired"), fixture.briefTtl());
    fixture.awaitOver(lease);

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check that requireHeld looks at the lease each time, and remembers no answer")
  void requireHeldPassesNoMoreOnceALeaseIsOver() {
    LockManager locks = fixture.openForShortTtl();
    for (int i = 0; i < ENDS; i++) {
      Lease expiring = fixture.take(locks, fixture.name("expiring"), fixture.briefTtl());
      long begun = System.nanoTime();
      while (expiring.isHeld() && fixture.isEarly(begun)) {
        TckFixture.regardless(expiring::requireHeld); // without a pause, so that the last is recent
      }
      if (expiring.isHeld()) {
        AnotherRule.isBroken("a lease does not end with its time");
      }
      assertThat(catchThrowable(expiring::requireHeld))
          .as("thrown by requireHeld right after the end of validity")
          .isInstanceOf(LockLostException.class);
    }
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check that requireHeld remembers no answer, whatever has ended the lease since")
  void requireHeldPassesNoMoreWhateverHasEndedTheLease() {
    LockManager locks = fixture.open();
    for (ReleaseWay way : ReleaseWay.values()) {
      assertThat(thrownAfter(locks, way.toString(), lease -> way.release(fixture, lease)))
          .as("thrown by requireHeld right after %s", way)
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(thrownAfter(locks, "releaseAsync()", Lease::releaseAsync))
        .as("thrown by requireHeld right after the call of releaseAsync()")
        .isInstanceOf(IllegalStateException.class);
    if (fixture.declares(LockCapability.EXTENSION) && !fixture.nodes().isEmpty()) {
      assertThat(thrownAfter(locks, "an extension that found no lock", this::removeAndExtend))
          .as("thrown by requireHeld right after an extension that found no lock")
          .isInstanceOf(LockLostException.class);
    }
  }

  private @Nullable Throwable thrownAfter(LockManager locks, String end, Consumer<Lease> act) {
    Lease lease = fixture.take(locks, fixture.name("ended"), fixture.ttl());
    TckFixture.regardless(lease::requireHeld);

    act.accept(lease);

    Throwable thrown = catchThrowable(lease::requireHeld);
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease goes on after " + end);
    }
    return thrown;
  }

  private void removeAndExtend(Lease lease) {
    fixture.nodes().forEach(node -> node.remove(lease.name()));
    TckFixture.regardless(lease::requireHeld);
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does that was found to be another owner's")
  void aLeaseThatWasTakenSaysSoWhateverItIsAsked() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    Lease lease = OnNodes.take(fixture, fixture.open(), fixture.name("taken"), fixture.ttl());
    OnNodes.occupy(fixture, fixture.nodes(), lease.name());
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does that was found to be removed")
  void aLeaseThatWasRemovedSaysSoWhateverItIsAsked() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    Lease lease = OnNodes.take(fixture, fixture.open(), fixture.name("removed"), fixture.ttl());
    fixture.nodes().forEach(node -> node.remove(lease.name()));
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does whose longest hold is over")
  void aLeaseAtTheEndOfItsLongestHoldSaysSoWhateverItIsAsked() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Duration hold = fixture.briefTtl();
    Lease lease =
        fixture.take(
            fixture.openForShortTtl(),
            LockRequest.of(fixture.name("limited"), hold).keepAliveUpTo(hold));
    fixture.awaitPast(System.nanoTime(), hold);

    assertSaysThatItIsLost(lease);
  }

  /** Does what an extension without a quorum may have done on some nodes. */
  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release is sent to every node also when the lease has ended")
  void theReleaseOfALeaseThatHasEndedReachesTheNodes() {
    Needs.nodes(fixture, 3);
    Lease lease =
        fixture.take(fixture.openForShortTtl(), fixture.name("ended"), fixture.briefTtl());
    fixture.node(0).occupy(lease.name(), lease.token(), fixture.foreignTtl());
    fixture.awaitOver(lease);

    TckFixture.regardless(lease::release);

    fixture
        .soon()
        .until("its key is removed", () -> fixture.node(0).holder(lease.name()).isEmpty());
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does whose manager is closed")
  void aLeaseOfAClosedManagerSaysSoWhateverItIsAsked() {
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.name("closed"), fixture.ttl());
    locks.close();

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check that the reason of a loss is known before the lease is shown as over")
  void aLeaseSaysWhyItIsLostFromTheStart() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    Needs.of(fixture, LockCapability.EXTENSION); // which finds that the lock is gone
    LockManager locks = fixture.open();
    for (int round = 0; round < ROUNDS; round++) {
      Lease lease = fixture.take(locks, fixture.name("moment"), fixture.ttl());
      CountDownLatch asked = new CountDownLatch(1);
      Call<LockLostException> first = Call.begin(() -> firstLossOf(lease, asked));
      fixture.awaitRegardless("the lease is asked", () -> asked.getCount() == 0);

      locks.forceRelease(lease.name());
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      first.awaited(fixture);
      LossReason reason =
          first
              .result()
              .map(LockLostException::reason)
              .orElseGet(() -> AnotherRule.isBroken("a lease whose lock was removed goes on"));
      fixture.awaitRegardless("onLoss() completes", () -> lease.onLoss().isDone());
      if (lease.onLoss().isDone()) {
        assertThat(reason).as("the first reason of requireHeld()").isEqualTo(lease.onLoss().join());
      }
    }
  }

  /** Asks without a pause until the lease is lost. Other rules cover a lease that goes on. */
  private LockLostException firstLossOf(Lease lease, CountDownLatch asked) {
    long limit = System.nanoTime() + fixture.timing().soon().toNanos();
    while (System.nanoTime() - limit < 0) {
      try {
        lease.requireHeld();
        asked.countDown();
      } catch (LockLostException lost) {
        return lost;
      }
    }
    throw new IllegalStateException("the lease goes on");
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check that a release is no loss, for every way to release a lease")
  void aLeaseThatWasReleasedSaysSoWhateverItIsAsked() {
    LockManager locks = fixture.open();
    for (ReleaseWay way : ReleaseWay.values()) {
      Lease lease = fixture.take(locks, fixture.name("given-back"), fixture.ttl());
      way.release(fixture, lease);
      if (lease.isHeld()) {
        AnotherRule.isBroken("a lease is held after " + way + "");
      }

      assertThat(lease.remaining()).as("remaining() after %s", way).isZero();
      assertThatThrownBy(lease::requireHeld)
          .as("requireHeld() after %s", way)
          .isInstanceOf(IllegalStateException.class);
      if (fixture.declares(LockCapability.EXTENSION)) {
        assertThatThrownBy(() -> lease.extend(fixture.ttl()))
            .as("extend() after %s", way)
            .isInstanceOf(IllegalStateException.class);
        assertThat(thrownBy("extendAsync()", lease.extendAsync(fixture.ttl())))
            .as("the end of extendAsync() after %s", way)
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  /** Shows a lease as over while its release is on its way, so that no work goes on. */
  @Test
  @Tag("exclusion")
  @Rule("REL-11")
  @IfThisFails("check that releaseAsync() ends the lease before it sends anything")
  void aLeaseIsOverFromTheCallOfAnAsynchronousReleaseOn() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.name("async"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());

    CompletableFuture<Boolean> released = lease.releaseAsync();
    boolean held = lease.isHeld();
    Duration remaining = lease.remaining();
    Throwable thrown = catchThrowable(lease::requireHeld);
    Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());

    assertThat(held).as("held while its release is on its way").isFalse();
    assertThat(remaining).as("remaining time while the release is in flight").isZero();
    assertThat(thrown).as("requireHeld() while its release is on its way").isNotNull();
    fixture.awaitRegardless("the release is answered", released::isDone);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-11")
  @IfThisFails("check that release() and close() end the lease before they send anything")
  void aLeaseIsOverForOthersWhileOneThreadReleasesIt() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          Lease released = fixture.take(locks, fixture.name("released"), fixture.ttl());
          Lease closed = fixture.take(locks, fixture.name("closed"), fixture.ttl());
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), released.name());
          Call<Boolean> release = Call.begin(released::release);
          Call<Boolean> close =
              Call.begin(
                  () -> {
                    closed.close();
                    return true;
                  });
          fixture.awaitRegardless(
              "both are over, or answered",
              () ->
                  (!released.isHeld() && !closed.isHeld()) || (release.isOver() && close.isOver()));
          boolean early = !release.isOver() && !close.isOver();
          Faults.end(TckFault.FROZEN, fixture.nodes(), released.name());
          release.awaited(fixture);
          close.awaited(fixture);

          assertThat(early).as("they are over before the nodes have answered").isTrue();
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-11")
  @IfThisFails("check that a release waits for no call of another thread, such as extend()")
  void aLeaseIsOverFromTheCallOfAReleaseThoughAnotherThreadExtendsIt() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("quorumTimeout=3s");
    for (Consumer<Lease> release : List.<Consumer<Lease>>of(Lease::release, Lease::close)) {
      Retries.anyOf(() -> assertOverWhileItIsExtended(locks, release));
    }
  }

  /** Extends another lease, too, to see how long an extension takes. */
  private void assertOverWhileItIsExtended(LockManager locks, Consumer<Lease> release) {
    Lease probe = fixture.take(locks, fixture.name("extended"), fixture.ttl());
    Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
    Call<?> extension = extending(lease);
    Call<?> ofProbe = extending(probe);
    Attempts.stays(() -> !extension.isOver() && !ofProbe.isOver());
    Call<Boolean> released =
        Call.begin(
            () -> {
              release.accept(lease);
              return true;
            });

    fixture.awaitRegardless(
        "it is over, or was too late", () -> !lease.isHeld() || ofProbe.isOver());
    boolean isInTime = !lease.isHeld() && !ofProbe.isOver();
    Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());
    List.of(extension, ofProbe, released).forEach(call -> call.awaited(fixture));

    assertThat(isInTime).as("over before an extension ended that began before").isTrue();
  }

  private Call<Boolean> extending(Lease lease) {
    return Call.begin(
        () -> {
          TckFixture.regardless(() -> lease.extend(fixture.ttl()));
          return true;
        });
  }

  @Test
  @Rule("REL-12")
  @IfThisFails("check that a lease belongs to no thread")
  void aLeaseServesAnyThread() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease probe = fixture.take(locks, fixture.name("probe"), fixture.ttl());
    boolean extension = fixture.declares(LockCapability.EXTENSION);
    boolean works = isServed(probe, extension) && fixture.gets(other, probe.name());

    Lease lease =
        onAnotherThread(() -> fixture.take(locks, fixture.name("passed-on"), fixture.ttl()));
    Lease back = fixture.take(locks, fixture.name("passed-on"), fixture.ttl());
    boolean here = isServed(lease, extension);
    boolean there = onAnotherThread(() -> isServed(back, extension));
    if (!works) {
      AnotherRule.isBroken("a lease does not serve the thread that asked for it");
    }

    assertThat(here).as("extended and released by a thread that did not ask for it").isTrue();
    assertThat(there).as("extended and released by a thread that did not ask for it").isTrue();
    assertThat(fixture.gets(other, lease.name())).as("it is free").isTrue();
    assertThat(fixture.gets(other, back.name())).as("it is free").isTrue();
  }

  private boolean isServed(Lease lease, boolean extension) {
    try {
      lease.requireHeld();
      if (extension) {
        lease.extend(fixture.ttl());
      }
      return lease.isHeld() && !lease.remaining().isZero() && lease.release();
    } catch (RuntimeException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  private <T> T onAnotherThread(Callable<T> act) {
    Call<T> call = Call.begin(act).awaited(fixture);
    return call.result().orElseThrow(() -> new AssertionError("on another thread: " + call));
  }

  /** Leaves the test out if the lease goes on, which is another rule's. */
  private void assertSaysThatItIsLost(Lease lease) {
    if (lease.isHeld()) {
      AnotherRule.isBroken("the lease goes on");
    }
    CompletableFuture<LossReason> notified = lease.onLoss();
    fixture.awaitRegardless("onLoss() completes", notified::isDone);
    if (!notified.isDone()) {
      AnotherRule.isBroken("onLoss() does not complete");
    }
    LossReason reason = notified.join();

    assertThat(lease.remaining()).as("remaining()").isZero();
    assertLost(lease, reason, "requireHeld()", catchThrowable(lease::requireHeld));
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertLost(lease, reason, "extend()", catchThrowable(() -> lease.extend(fixture.briefTtl())));
      assertLost(
          lease,
          reason,
          "extendAsync()",
          thrownBy("extendAsync()", lease.extendAsync(fixture.briefTtl())));
    }
    assertThat(lease.isHeld()).as("isHeld()").isFalse();
    assertThat(fixture.soon().get("releaseAsync() completes", lease.releaseAsync()))
        .as("releaseAsync()")
        .isFalse();
    assertThat(lease.release()).as("release()").isFalse();
    assertLost(lease, reason, "requireHeld()", catchThrowable(lease::requireHeld));
    assertThat(fixture.soon().get("onLoss() completes", lease.onLoss()))
        .as("onLoss()")
        .isEqualTo(reason);
  }

  private static void assertLost(
      Lease lease, LossReason reason, String what, @Nullable Throwable thrown) {
    assertThat(thrown)
        .as("the exception of %s", what)
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason))
        .hasMessageContaining(lease.name());
  }

  private @Nullable Throwable thrownBy(String what, CompletableFuture<?> stage) {
    try {
      stage.get(fixture.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (TimeoutException e) {
      throw new AssertionError(what + " never completes", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(what + " did not happen in time", e);
    }
  }
}
