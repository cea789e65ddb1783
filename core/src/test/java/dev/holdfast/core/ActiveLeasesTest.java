package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A manager that closes waits until the last lease has ended, and then until no operation is in
 * flight. The release of a lease must therefore begin before the lease counts as ended.
 */
class ActiveLeasesTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private Runnable beforeEachTimer = () -> {};
  private final ManagerContext context = ScriptedBackend.context(backend, time, new HookedTimers());
  private final ActiveLeases leases = new ActiveLeases(context, new WaitQueues());
  private final List<String> seen = new ArrayList<>();
  private final DefaultLease lease = open();

  @BeforeEach
  void watch() {
    backend.beforeEachCall(() -> seen.add("release"));
    leases.whenEmpty().thenRun(() -> seen.add("emptied"));
    assertThat(seen).isEmpty();
  }

  @Test
  void releaseBeginsBeforeTheLeasesAreReportedEmpty() {
    assertThat(lease.release()).isTrue();
    assertThat(seen).containsExactly("release", "emptied");
  }

  @Test
  void releaseAfterALossBeginsBeforeTheLeasesAreReportedEmpty() {
    time.advance(TTL);
    assertThat(lease.isHeld()).isFalse();
    assertThat(seen).containsExactly("release", "emptied");
  }

  @Test
  void aLeaseThatEndsWhileItsWatchBeginsLeavesNoTimer() {
    assertThat(lease.release()).isTrue();
    beforeEachTimer = () -> leases.endAll();
    DefaultLease ended = open();
    assertThat(ended.isHeld()).isFalse();
    time.assertIdle();
  }

  private DefaultLease open() {
    Attempt attempt = new Attempt("x", "tester", TTL, new AttemptProgress());
    return leases.open(
        REQUEST, (Grant) backend.attempt(attempt).join(), 0, 0, new CompletableFuture<>());
  }

  private final class HookedTimers implements Scheduler {
    @Override
    public Task schedule(long delayNanos, Runnable task) {
      beforeEachTimer.run();
      return time.schedule(delayNanos, task);
    }

    @Override
    public void close() {
      time.close();
    }
  }
}
