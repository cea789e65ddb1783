package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread that is interrupted, at every stage: nothing stays held, and the next has its turn. */
class InterruptingTest {
  private static final LockRequest REQUEST =
      LockRequest.of("x", Duration.ofSeconds(60)).waitForever();

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @AfterEach
  void nothingIsHeldAndNoWaiterIsLeft() throws Exception {
    assertThat(backend.holder("x")).isEmpty();
    assertThat(manager.tryAcquire(LockRequest.of("x", Duration.ofSeconds(1)))).isPresent();
  }

  @Test
  void interruptBeforeTheRequestSendsNothing() throws Exception {
    Background<Lease> call =
        Background.run(
            () -> {
              Thread.currentThread().interrupt();
              return manager.acquire(REQUEST);
            });
    assertThat(call.failure()).isInstanceOf(InterruptedException.class);
    assertThat(call.interruptedAtEnd()).as("the exception stands for the flag").isFalse();
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void interruptedWaiterLeavesTheQueueAndTheNextIsServed() throws Exception {
    Lease held = manager.acquire(REQUEST);
    Background<Lease> head = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    Background<Lease> interrupted = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    Background<Lease> last = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();

    interrupted.interrupt();
    assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);
    assertThat(held.release()).isTrue();
    assertThat(head.result().release()).isTrue();
    assertThat(last.result().release()).isTrue();
  }

  @Test
  void interruptedAttemptReturnsAtOnceAndItsLateGrantIsReleased() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    Background<Lease> interrupted = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    interrupted.interrupt();
    assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);

    backend.answerAtOnce(Op.ATTEMPT);
    backend.next().answer();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void interruptingABackingOffWaiterLetsTheNextTryAtOnce() throws Exception {
    backend.giveToAnother("x", Duration.ofHours(1));
    Background<Lease> interrupted = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    Background<Lease> next = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    backend.wipe("x");
    interrupted.interrupt();
    assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);
    assertThat(next.result().release()).isTrue();
  }

  @Test
  void interruptInMidAttemptOnTheCallersThreadReturnsTheGrantAndKeepsTheFlag() throws Exception {
    backend.beforeEachCall(() -> Thread.currentThread().interrupt());
    Background<Lease> call = Background.run(() -> manager.acquire(REQUEST));
    Lease lease = call.result();
    assertThat(call.interruptedAtEnd()).isTrue();
    backend.beforeEachCall(() -> {});
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.release()).isTrue();
  }

  @Test
  void interruptAtTheGrantEitherReturnsOrReleasesTheLock() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    for (int i = 0; i < 100; i++) {
      Background<Lease> call = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
      Background<Optional<String>> granting =
          Background.run(
              () -> {
                backend.next().answer();
                return Optional.empty();
              });
      call.interrupt();
      granting.result();
      try {
        Lease lease = call.result();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isTrue();
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(InterruptedException.class);
      }
      assertThat(backend.holder("x")).isEmpty();
    }
    backend.answerAtOnce(Op.ATTEMPT);
  }

  @Test
  void aReleaseIsNotInterruptedAndKeepsTheFlag() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    Background<Boolean> release = Background.run(lease::release).awaitBlocked();
    release.interrupt();
    release.awaitBlocked();
    backend.next().answer();
    assertThat(release.result()).isTrue();
    assertThat(release.interruptedAtEnd()).isTrue();
  }

  @Test
  void anExtensionIsNotInterruptedAndKeepsTheFlag() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    Background<Boolean> extension =
        Background.run(
                () -> {
                  lease.extend(Duration.ofSeconds(30));
                  return true;
                })
            .awaitBlocked();
    extension.interrupt();
    extension.awaitBlocked();
    backend.next().answer();
    assertThat(extension.result()).isTrue();
    assertThat(extension.interruptedAtEnd()).isTrue();
    assertThat(lease.release()).isTrue();
  }
}
