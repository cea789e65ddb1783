package dev.holdfast.core;

import static dev.holdfast.core.CallersFrames.assertIsCopyOf;
import static dev.holdfast.core.CallersFrames.assertIsFromHere;
import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ReleasingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void aReleaseFreesTheLockAndLeavesNoTimer() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    assertThat(lease.release()).isTrue();
    assertThat(backend.holder("x")).isEmpty();
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("released");
    time.assertIdle();
  }

  @Test
  void secondReleaseReturnsTheSameResultAndSendsNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThat(lease.release()).isTrue();
    assertThat(lease.release()).isTrue();
    assertThat(lease.releaseAsync()).isCompletedWithValue(true);
    lease.close();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void aSecondReleaseDoesNotTouchTheNextGrant() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThat(lease.release()).isTrue();
    Lease next = manager.acquire(REQUEST);
    assertThat(lease.release()).isTrue();
    lease.close();
    assertThat(backend.holder("x")).contains(next.token());
    assertThat(next.isHeld()).isTrue();
  }

  @Test
  void concurrentReleasesAreSentOnce() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> first = lease.releaseAsync();
    CompletableFuture<Boolean> second = lease.releaseAsync();
    assertThat(lease.isHeld()).as("it is over for the holder at once").isFalse();
    assertThat(second).isNotDone();
    backend.next().answer();
    assertThat(first).isCompletedWithValue(true);
    assertThat(second).isCompletedWithValue(true);
    assertThat(backend.waitingForAnswers()).isZero();
  }

  @Test
  void aReleaseAfterTheEndIsFalse() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL);
    assertThat(lease.release()).isFalse();
    assertThat(lease.release()).isFalse();
    assertThat(lease.releaseAsync()).isCompletedWithValue(false);
  }

  @Test
  void releaseOfAStolenLockIsFalseAndLeavesTheNewOwner() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.giveToAnother("x", TTL);
    assertThat(lease.release()).isFalse();
    assertThat(lease.release()).isFalse();
    assertThat(backend.holder("x")).contains("another's");
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN));
  }

  @Test
  void releaseOfARemovedLockIsFalse() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.wipe("x");
    assertThat(lease.release()).isFalse();
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.REMOVED));
  }

  @Test
  void unansweredReleaseIsAnOutageEachTimeAndEndsTheLease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    LockOutageException outage = new LockOutageException("no quorum", Map.of(), true);
    backend.failing(Op.RELEASE, outage);
    assertThatThrownBy(lease::release).satisfies(thrown -> assertIsFromHere(thrown, outage));
    assertThatThrownBy(lease::release).satisfies(thrown -> assertIsFromHere(thrown, outage));
    assertIsCopyOf(outage, failureOf(lease.releaseAsync()));
    assertThat(lease.isHeld()).isFalse();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  @Rule("REL-7")
  @DisplayName("close throws no LockException, whatever became of the lease")
  void closeThrowsNoLockExceptionWhateverBecameOfTheLease() throws Exception {
    Lease unreachable = manager.acquire(REQUEST);
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    assertThatCode(unreachable::close).doesNotThrowAnyException();
    backend.healed();

    Lease expired = manager.acquire(LockRequest.of("y", TTL));
    time.passUnnoticed(TTL);
    assertThatCode(expired::close).doesNotThrowAnyException();
  }

  @Test
  void closeWarnsOfALossWithReasonAndOverrun() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL.plusMillis(1234));
    try (Warnings warnings = Warnings.of(Lease.class)) {
      lease.close();
      lease.close();
      assertThat(warnings.texts())
          .singleElement()
          .asString()
          .contains("'x'", "EXPIRED", "1234 ms before");
    }
  }

  @Test
  void closeWarnsIfTheReleaseFails() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    try (Warnings warnings = Warnings.of(Lease.class)) {
      lease.close();
      assertThat(warnings.texts()).singleElement().asString().contains("'x'", "no quorum");
    }
  }

  @Test
  @Rule("REL-10")
  @DisplayName("releases that are not confirmed are warned of once a second, with a count")
  void releasesThatAreNotConfirmedAreWarnedOfOnceASecond() throws Exception {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      leases.add(manager.acquire(LockRequest.of("x" + i, TTL)));
    }
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    try (Warnings warnings = Warnings.of(Lease.class)) {
      leases.subList(0, 3).forEach(Lease::close);
      assertThat(warnings.texts()).hasSize(1);
      time.advance(Duration.ofSeconds(1));
      assertThat(warnings.texts())
          .containsExactly(
              "the release of 'x0' was not confirmed; the lock expires by itself: no quorum",
              "the release of 'x2' and of 1 more was not confirmed; the lock expires by itself: no"
                  + " quorum");

      leases.get(3).close();
      manager.close();
      assertThat(warnings.texts()).as("nothing is kept back by a manager that closes").hasSize(3);
      time.advance(Duration.ofSeconds(1));
      leases.get(4).close();
      assertThat(warnings.texts()).as("it ended with its manager").hasSize(4);
    }
  }

  @Test
  @Rule("REL-10")
  @DisplayName("a logger that throws ends no later warning")
  void aLoggerThatThrowsEndsNoLaterWarning() throws Exception {
    Lease first = manager.acquire(REQUEST);
    Lease second = manager.acquire(LockRequest.of("y", TTL));
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    try (Warnings broken = Warnings.throwing(Lease.class)) {
      assertThat(catchThrowable(first::close)).isNotNull();
      assertThat(broken.texts()).hasSize(1);
    }
    try (Warnings warnings = Warnings.of(Lease.class)) {
      time.advance(Duration.ofSeconds(1));

      second.close();

      assertThat(warnings.texts()).singleElement().asString().contains("'y'");
    }
  }

  @Test
  void closeLogsNothingIfTheReleaseSucceeds() throws Exception {
    try (Warnings warnings = Warnings.of(Lease.class)) {
      manager.acquire(REQUEST).close();
      Lease released = manager.acquire(REQUEST);
      assertThat(released.release()).isTrue();
      time.passUnnoticed(TTL);
      released.close();
      assertThat(warnings.texts()).isEmpty();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("a release does not wait for an extension in flight, and ends it")
  void releaseDoesNotWaitForAnExtensionInFlight() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    CompletableFuture<Void> queued = lease.extendAsync(TTL);
    CompletableFuture<Boolean> release = lease.releaseAsync();
    assertThat(release).isCompletedWithValue(true);
    assertThat(extension).isCompletedExceptionally();
    assertThat(queued).isCompletedExceptionally();
    assertThat(backend.holder("x")).isEmpty();

    backend.next().answer();
    assertThat(lease.isHeld()).isFalse();
    assertThat(backend.calls().stream().map(Call::op))
        .containsExactly(Op.ATTEMPT, Op.EXTEND, Op.RELEASE);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("no extension is sent after a concurrent release")
  void noExtensionIsSentAfterAConcurrentRelease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    CountDownLatch isSending = new CountDownLatch(1);
    CountDownLatch isSent = new CountDownLatch(1);
    backend.beforeEachCall(
        () -> {
          if (backend.calls().size() == 1) { // the extension, after the attempt
            isSending.countDown();
            awaitUninterruptibly(isSent);
          }
        });
    Background<Boolean> extension = Background.run(() -> !lease.extendAsync(TTL).isDone());
    assertThat(isSending.await(10, TimeUnit.SECONDS)).isTrue();
    Background<Boolean> release = Background.run(lease::release).awaitBlockedByMonitor();
    isSent.countDown();

    assertThat(release.result()).isTrue();
    extension.result();
    assertThat(backend.calls().stream().map(Call::op))
        .containsExactly(Op.ATTEMPT, Op.EXTEND, Op.RELEASE);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void nothingIsExtendedAfterARelease() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    backend.holdBack(Op.EXTEND);
    lease.extendAsync(TTL);
    lease.extendAsync(TTL);
    lease.releaseAsync();
    backend.next().answer();
    time.advance(Duration.ofMinutes(5));

    List<Op> ops = backend.calls().stream().map(Call::op).toList();
    assertThat(ops).containsExactly(Op.ATTEMPT, Op.EXTEND, Op.RELEASE);
  }

  @Test
  void onLossNeverCompletesAfterARelease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    CompletableFuture<LossReason> lost = lease.onLoss();
    assertThat(lease.release()).isTrue();
    time.advance(Duration.ofHours(1));
    manager.close();
    assertThat(lost).isNotDone();
    assertThat(lease.onLoss()).isNotDone();
  }

  @Test
  void onLossNeverCompletesAfterAReleaseOfARemovedLock() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.wipe("x");
    assertThat(lease.release()).isFalse();
    time.advance(Duration.ofHours(1));
    assertThat(lease.onLoss()).isNotDone();
  }

  @Test
  void releaseKeepsOnlyTheRestOfHoldAtLeast() throws Exception {
    LockRequest request = REQUEST.holdAtLeast(Duration.ofSeconds(10));
    Lease early = manager.acquire(request);
    time.advance(Duration.ofSeconds(4));
    assertThat(early.release()).isTrue();
    assertThat(backend.holder("x")).as("kept from others").isPresent();
    time.advance(Duration.ofSeconds(6));
    assertThat(backend.holder("x")).isEmpty();

    Lease late = manager.acquire(request);
    time.advance(Duration.ofSeconds(11));
    assertThat(late.release()).isTrue();
    assertThat(backend.calls(Op.RELEASE))
        .extracting(Call::time)
        .containsExactly(Duration.ofSeconds(6), Duration.ZERO);
  }
}
