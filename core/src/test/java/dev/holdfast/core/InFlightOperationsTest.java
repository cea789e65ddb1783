package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Every operation of the backend counts as in flight from its call to its answer. */
class InFlightOperationsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final ManagerContext context = ScriptedBackend.context(backend, time, time);
  private final InFlightOperations operations = context.operations();
  private final ConcurrencyLimiter limiter = context.limiter();
  private final LockManager manager = new CoreLockManager(context, () -> {});

  @Test
  void anAttemptCounts() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    assertCountsUntilAnswered();
  }

  @Test
  void anExtensionCounts() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    lease.extendAsync(TTL);
    assertCountsUntilAnswered();
  }

  @Test
  void aReleaseCounts() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    lease.releaseAsync();
    assertCountsUntilAnswered();
  }

  @Test
  void anInspectionCounts() throws Exception {
    backend.holdBack(Op.INSPECT);
    Background<?> inspection = Background.run(() -> manager.inspect("x")).awaitBlocked();
    assertCountsUntilAnswered();
    inspection.result();
  }

  @Test
  void aForcedReleaseCounts() throws Exception {
    backend.holdBack(Op.FORCE_RELEASE);
    Background<?> removal = Background.run(() -> manager.forceRelease("x")).awaitBlocked();
    assertCountsUntilAnswered();
    removal.result();
  }

  @Test
  void aLoggerThatThrowsBlocksNoLaterOperation() throws Exception {
    for (int i = 0; i < ConcurrencyLimiter.MAX_IN_FLIGHT; i++) {
      limiter.acquirePermit();
    }
    List<String> begun = new ArrayList<>();
    limiter.enqueue(
        () -> {
          throw new IllegalStateException("cannot begin");
        });
    limiter.enqueue(() -> begun.add("later"));
    try (Warnings broken = Warnings.throwing(LockManager.class)) {
      limiter.releasePermit();
      assertThat(broken.texts()).containsExactly("an operation could not begin");
    }

    assertThat(begun).containsExactly("later");
  }

  private void assertCountsUntilAnswered() {
    CompletableFuture<Void> idle = operations.whenIdle();
    assertThat(idle).isNotDone();
    backend.next().answer();
    assertThat(idle).isCompleted();
  }
}
