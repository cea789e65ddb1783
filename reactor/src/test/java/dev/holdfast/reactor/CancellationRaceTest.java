package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.MemoryLocks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Cancellations at the time at which the lock arrives: no lease is left behind. */
class CancellationRaceTest {
  private static final int ROUNDS = 400;
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(60));

  @AutoClose private final LockManager manager = MemoryLocks.builder().open();
  private final ReactiveLocks locks = ReactiveLocks.over(manager);

  @Test
  void usingLockLeavesNothingHeld() throws Exception {
    AtomicInteger begun = new AtomicInteger();
    Mono<Object> work = Mono.<Object>never().doOnSubscribe(s -> begun.incrementAndGet());
    race(locks.usingLock(REQUEST, lease -> work).flux());
    assertThat(begun.get()).as("some cancellations come after the lock").isPositive();
  }

  @Test
  void usingLockManyLeavesNothingHeld() throws Exception {
    race(locks.usingLockMany(REQUEST, lease -> Flux.interval(Duration.ofNanos(1_000))));
  }

  private void race(Flux<?> publisher) throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      int spins = 50 * (i % 40);
      Lease before = i % 2 == 0 ? manager.acquire(REQUEST) : null;
      CountDownLatch go = new CountDownLatch(1);
      Disposable subscriber = publisher.subscribe(element -> {}, failure -> {});
      Thread canceller =
          new Thread(
              () -> {
                awaitLatch(go);
                for (int k = 0; k < spins; k++) {
                  Thread.onSpinWait();
                }
                subscriber.dispose();
              });
      canceller.start();
      go.countDown();
      if (before != null) {
        assertThat(before.release()).isTrue();
      }
      canceller.join(20_000);
      requireFree();
    }
  }

  /** Waits for the lock, which a lease that is left behind holds for a minute. */
  private void requireFree() throws Exception {
    Lease next =
        manager.tryAcquireAsync(REQUEST.waitForever()).get(20, TimeUnit.SECONDS).orElseThrow();
    assertThat(next.release()).isTrue();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
