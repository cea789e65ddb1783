package dev.holdfast.core;

import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A backend that breaks its contract fails its callers and blocks no later operation. */
class BrokenBackendTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final Error fault = new NoClassDefFoundError("a driver's");
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @AfterEach
  void noOperationIsThoughtToBeUnderWay() throws Exception {
    assertThat(Background.closing(manager).result()).isTrue();
    time.assertIdle();
  }

  @Test
  void failedAttemptLetsTheNextWaiterTry() throws Exception {
    breaks();
    assertThatThrownBy(() -> manager.acquire(REQUEST.waitForever())).isSameAs(fault);
    assertThat(failureOf(manager.tryAcquireAsync(REQUEST))).isSameAs(fault);
    mended();
    assertThat(manager.tryAcquire(REQUEST)).isPresent();
  }

  @Test
  void failedExtensionLeavesTheLeaseHeldAndReleasable() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    breaks();
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    assertThat(failureOf(extension)).isSameAs(fault);
    assertThat(lease.isHeld()).isTrue();
    mended();
    assertThat(lease.releaseAsync()).isCompletedWithValue(true);
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void failedRenewalIsTriedAgain() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    breaks();
    time.advance(TTL.dividedBy(2));
    mended();
    time.advance(TTL);
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.release()).isTrue();
  }

  @Test
  void releaseFailsWithTheErrorOfTheBackend() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    breaks();
    assertThat(failureOf(lease.releaseAsync())).isSameAs(fault);
    mended();
  }

  @Test
  void inspectionAndForcedReleaseFailWithTheErrorOfTheBackend() {
    breaks();
    assertThatThrownBy(() -> manager.inspect("x")).isSameAs(fault);
    assertThatThrownBy(() -> manager.forceRelease("x")).isSameAs(fault);
    mended();
  }

  @Test
  void nullReplyToAnAttemptLetsTheNextWaiterTry() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<?> attempt = manager.tryAcquireAsync(REQUEST.waitForever());
    backend.next().answerNothing();
    assertAnsweredNothing(attempt);
    backend.answerAtOnce(Op.ATTEMPT);
    assertThat(manager.tryAcquire(REQUEST)).isPresent();
  }

  @Test
  void nullReplyToAnExtensionLeavesTheLeaseHeld() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<?> extension = lease.extendAsync(TTL);
    backend.next().answerNothing();
    assertAnsweredNothing(extension);
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void nullReplyToAReleaseFailsAtOnce() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    CompletableFuture<?> release = lease.releaseAsync();
    backend.next().answerNothing();
    assertAnsweredNothing(release);
  }

  @Test
  void nullReplyToInspectionAndForcedReleaseFailsAtOnce() throws Exception {
    backend.holdBack(Op.INSPECT);
    backend.holdBack(Op.FORCE_RELEASE);
    for (ThrowingCallable call :
        new ThrowingCallable[] {() -> manager.inspect("x"), () -> manager.forceRelease("x")}) {
      Background<Boolean> asked =
          Background.run(
                  () -> {
                    assertThatThrownBy(call)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("neither a result nor a failure");
                    return true;
                  })
              .awaitBlocked();
      backend.next().answerNothing();
      assertThat(asked.result()).isTrue();
    }
  }

  private void breaks() {
    backend.beforeEachCall(
        () -> {
          throw fault;
        });
  }

  private void mended() {
    backend.beforeEachCall(() -> {});
  }

  private static void assertAnsweredNothing(CompletableFuture<?> answer) {
    assertThat(failureOf(answer))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("neither a result nor a failure");
  }
}
