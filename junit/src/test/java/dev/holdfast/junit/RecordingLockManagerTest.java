package dev.holdfast.junit;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Fakes;
import dev.holdfast.testsupport.Uncancellable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Leases that arrive when the test has cancelled their requests. */
class RecordingLockManagerTest {
  private static final LockRequest REQUEST =
      LockRequest.of("x", Duration.ofSeconds(30)).holdAtLeast(Duration.ofHours(1));

  @AutoClose
  private final LockManager memory = MemoryLocks.builder().clock(new ManualClock()).open();

  private final MemoryStore store = memory.unwrap(MemoryStore.class).orElseThrow();
  private final CompletableFuture<Optional<Lease>> onItsWay = new Uncancellable<>();

  @Test
  void aLeaseThatArrivesAfterTheCancellationIsReleasedBeforeItsMinimum() {
    assertThat(recording().tryAcquireAsync(REQUEST).cancel(false)).isTrue();

    Optional<Lease> lease = memory.tryAcquireAsync(REQUEST).join();
    assertThat(store.holder("x")).isPresent();
    onItsWay.complete(lease);

    soon().untilAsserted(() -> assertThat(store.holder("x")).isEmpty());
  }

  private LockManager recording() {
    LockManager fake = Fakes.of(LockManager.class, (self, method, arguments) -> onItsWay);
    return new RecordingLockManager(fake, new LockJournal());
  }
}
