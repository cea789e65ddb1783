package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Real threads and real time. */
class ManyThreadsTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ScriptedBackend backend = new ScriptedBackend(Clock.system());
  private final LockManager manager = LockManagerBuilder.over(backend).build();
  private int inside;
  private int entered;

  @AfterEach
  void close() {
    manager.close();
    assertThat(backend.callsAfterClose()).isZero();
  }

  @Test
  void aThousandThreadsOnOneNameAllGetItOneAtATime() throws Exception {
    List<Background<Integer>> threads = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      threads.add(
          Background.run(
              () -> {
                try (Lease lease = manager.acquire(REQUEST)) {
                  assertThat(++inside).isOne();
                  lease.requireHeld();
                  inside--;
                  return ++entered;
                }
              }));
    }
    for (Background<Integer> thread : threads) {
      assertThat(thread.result()).isPositive();
    }
    assertThat(entered).isEqualTo(1000);
    assertThat(backend.holder("x")).isEmpty();
    assertThat(backend.calls(Op.ATTEMPT).size()).isLessThan(3000);
  }

  @Test
  void amidInterruptsCancellationsAndShortWaitsNothingIsLostAndNothingStaysHeld() throws Exception {
    List<Background<Integer>> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Random random = new Random(i);
      threads.add(
          Background.run(
              () -> {
                int held = 0;
                for (int round = 0; round < 300; round++) {
                  held += round(random);
                }
                return held;
              }));
    }
    Random random = new Random(99);
    while (!threads.stream().allMatch(Background::isDone)) {
      threads.get(random.nextInt(threads.size())).interrupt();
      Thread.onSpinWait();
    }
    int held = 0;
    for (Background<Integer> thread : threads) {
      held += thread.result();
    }
    assertThat(held).isPositive().isEqualTo(entered);
    assertThat(manager.tryAcquire(REQUEST.waitAtMost(Duration.ofSeconds(5)))).isPresent();
  }

  /** One way or another to the lock, or to none. */
  private int round(Random random) {
    LockRequest request = REQUEST.waitAtMost(Duration.ofNanos(random.nextInt(2_000_000)));
    try {
      if (random.nextBoolean()) {
        return manager.tryAcquire(request).map(this::use).orElse(0);
      }
      CompletableFuture<Optional<Lease>> future = manager.tryAcquireAsync(request);
      if (random.nextInt(3) == 0 && future.cancel(true)) {
        return 0;
      }
      return future.join().map(this::use).orElse(0);
    } catch (InterruptedException interrupted) {
      return 0;
    }
  }

  private int use(Lease lease) {
    assertThat(++inside).isOne();
    entered++;
    inside--;
    assertThat(lease.release()).isTrue();
    return 1;
  }
}
