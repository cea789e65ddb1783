package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease that is over says so, whatever it is asked, and whoever asks. */
abstract class EndedLeaseRules {
  final Trial trial;

  EndedLeaseRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does when its time is over")
  void aLeaseThatExpiredSaysSoWhateverItIsAsked() {
    Lease lease = trial.take(trial.openForShortTtl(), trial.name("expired"), trial.briefTtl());
    trial.awaitOver(lease);

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does that was found to be another owner's")
  void aLeaseThatWasTakenSaysSoWhateverItIsAsked() {
    trial.needs(LockCapability.EXTENSION);
    trial.needsNodes(1);
    Lease lease = trial.takeOnAll(trial.open(), trial.name("taken"), trial.ttl());
    trial.occupy(trial.nodes(), lease.name());
    Trial.regardless(() -> lease.extend(trial.ttl()));

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does that was found to be removed")
  void aLeaseThatWasRemovedSaysSoWhateverItIsAsked() {
    trial.needs(LockCapability.EXTENSION);
    trial.needsNodes(1);
    Lease lease = trial.takeOnAll(trial.open(), trial.name("removed"), trial.ttl());
    trial.nodes().forEach(node -> node.remove(lease.name()));
    Trial.regardless(() -> lease.extend(trial.ttl()));

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does whose longest hold is over")
  void aLeaseAtTheEndOfItsLongestHoldSaysSoWhateverItIsAsked() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration hold = trial.briefTtl();
    Lease lease =
        trial.take(
            trial.openForShortTtl(),
            LockRequest.of(trial.name("limited"), hold).keepAliveUpTo(hold));
    long granted = System.nanoTime();
    trial.soon().until("its time is over", () -> Elapsed.since(granted).compareTo(hold) > 0);

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check what each method of a lease does whose manager is closed")
  void aLeaseOfAClosedManagerSaysSoWhateverItIsAsked() {
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, trial.name("closed"), trial.ttl());
    locks.close();

    assertSaysThatItIsLost(lease);
  }

  @Test
  @Rule("LOSS-9")
  @IfThisFails("check that a release is no loss, however the lease was given back")
  void aLeaseThatWasGivenBackSaysSoWhateverItIsAsked() {
    LockManager locks = trial.open();
    for (GivingBack way : GivingBack.values()) {
      Lease lease = trial.take(locks, trial.name("given-back"), trial.ttl());
      way.giveBack(trial, lease);
      if (lease.isHeld()) {
        abort("a lease is held after " + way + ", which is another rule's");
      }

      assertThat(lease.remaining()).as("remaining() after %s", way).isZero();
      assertThatThrownBy(lease::requireHeld)
          .as("requireHeld() after %s", way)
          .isInstanceOf(IllegalStateException.class);
      if (trial.declares(LockCapability.EXTENSION)) {
        assertThatThrownBy(() -> lease.extend(trial.ttl()))
            .as("extend() after %s", way)
            .isInstanceOf(IllegalStateException.class);
        assertThat(thrownBy("extendAsync()", lease.extendAsync(trial.ttl())))
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
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open();
    Lease lease = trial.take(locks, trial.name("async"), trial.ttl());
    trial.begin(TckFault.FROZEN, trial.nodes(), lease.name());

    CompletionStage<Boolean> released = lease.releaseAsync();
    boolean held = lease.isHeld();
    Duration remaining = lease.remaining();
    Throwable thrown = catchThrowable(lease::requireHeld);
    trial.end(TckFault.FROZEN, trial.nodes(), lease.name());

    assertThat(held).as("held while its release is on its way").isFalse();
    assertThat(remaining).as("what remains while its release is on its way").isZero();
    assertThat(thrown).as("requireHeld() while its release is on its way").isNotNull();
    trial.awaitRegardless("the release is answered", released.toCompletableFuture()::isDone);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-11")
  @IfThisFails("check that release() and close() end the lease before they send anything")
  void aLeaseIsOverForOthersWhileOneThreadReleasesIt() {
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open();

    Tries.anyOf(
        () -> {
          Lease released = trial.take(locks, trial.name("released"), trial.ttl());
          Lease closed = trial.take(locks, trial.name("closed"), trial.ttl());
          trial.begin(TckFault.FROZEN, trial.nodes(), released.name());
          Call<Boolean> release = Call.begin(released::release);
          Call<Boolean> close =
              Call.begin(
                  () -> {
                    closed.close();
                    return true;
                  });
          trial.awaitRegardless(
              "both are over, or answered",
              () ->
                  (!released.isHeld() && !closed.isHeld()) || (release.isOver() && close.isOver()));
          boolean early = !release.isOver() && !close.isOver();
          trial.end(TckFault.FROZEN, trial.nodes(), released.name());
          release.awaited(trial);
          close.awaited(trial);

          assertThat(early).as("they are over before the nodes have answered").isTrue();
        });
  }

  @Test
  @Rule("REL-12")
  @IfThisFails("check that a lease belongs to no thread")
  void aLeaseServesWhoeverHasIt() throws InterruptedException {
    LockManager locks = trial.open();
    LockManager other = trial.open();
    Lease probe = trial.take(locks, trial.name("probe"), trial.ttl());
    boolean extension = trial.declares(LockCapability.EXTENSION);
    boolean works = isServed(probe, extension) && trial.gets(other, probe.name());

    Lease lease = onAnotherThread(() -> trial.take(locks, trial.name("passed-on"), trial.ttl()));
    Lease back = trial.take(locks, trial.name("passed-on"), trial.ttl());
    boolean here = isServed(lease, extension);
    boolean there = onAnotherThread(() -> isServed(back, extension));
    if (!works) {
      abort("a lease does not serve the thread that asked for it, which is another rule's");
    }

    assertThat(here).as("extended and released by a thread that did not ask for it").isTrue();
    assertThat(there).as("extended and released by a thread that did not ask for it").isTrue();
    assertThat(trial.gets(other, lease.name())).as("it is free").isTrue();
    assertThat(trial.gets(other, back.name())).as("it is free").isTrue();
  }

  private boolean isServed(Lease lease, boolean extension) {
    try {
      lease.requireHeld();
      if (extension) {
        lease.extend(trial.ttl());
      }
      return lease.isHeld() && !lease.remaining().isZero() && lease.release();
    } catch (RuntimeException e) {
      PassedOver.add(e);
      return false;
    }
  }

  private <T> T onAnotherThread(Callable<T> act) {
    Call<T> call = Call.begin(act).awaited(trial);
    return call.result().orElseThrow(() -> new AssertionError("on another thread: " + call));
  }

  /** Leaves the test out if the lease goes on, which is another rule's. */
  private void assertSaysThatItIsLost(Lease lease) {
    if (lease.isHeld()) {
      abort("the lease goes on, which is another rule's");
    }
    CompletableFuture<LossReason> told = lease.lost().toCompletableFuture();
    trial.awaitRegardless("lost() completes", told::isDone);
    if (!told.isDone()) {
      abort("lost() does not complete, which is another rule's");
    }
    LossReason reason = told.join();

    assertThat(lease.remaining()).as("remaining()").isZero();
    assertLost(lease, reason, "requireHeld()", catchThrowable(lease::requireHeld));
    if (trial.declares(LockCapability.EXTENSION)) {
      assertLost(lease, reason, "extend()", catchThrowable(() -> lease.extend(trial.briefTtl())));
      assertLost(
          lease,
          reason,
          "extendAsync()",
          thrownBy("extendAsync()", lease.extendAsync(trial.briefTtl())));
    }
    assertThat(lease.isHeld()).as("isHeld()").isFalse();
    assertThat(trial.soon().get("releaseAsync() completes", lease.releaseAsync()))
        .as("releaseAsync()")
        .isFalse();
    assertThat(lease.release()).as("release()").isFalse();
    assertLost(lease, reason, "requireHeld()", catchThrowable(lease::requireHeld));
    assertThat(trial.soon().get("lost() completes", lease.lost())).as("lost()").isEqualTo(reason);
  }

  private static void assertLost(
      Lease lease, LossReason reason, String what, @Nullable Throwable thrown) {
    assertThat(thrown)
        .as("what %s throws", what)
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason))
        .hasMessageContaining(lease.name());
  }

  private @Nullable Throwable thrownBy(String what, CompletionStage<?> stage) {
    try {
      stage.toCompletableFuture().get(trial.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (TimeoutException e) {
      throw new AssertionError(what + " never completes", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(what + " was waited for in vain", e);
    }
  }
}
