package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class WaitersTest {
  private static final Duration LIMIT = Duration.ofMillis(100);

  private final CountDownLatch notified = new CountDownLatch(1);
  private final Thread holder = new Thread(() -> {});

  @Test
  void aThreadThatWaitsOnThoughItIsInterruptedIsLeftOut() throws Exception {
    Thread stubborn = started(() -> awaitWithoutInterruption(notified));
    stubborn.interrupt();
    Thread other = started(() -> {});
    other.join();

    assertThatThrownBy(() -> Waiters.end(holder, List.of(stubborn, other), LIMIT))
        .hasMessage("1 threads did not end within 100 ms, although they were stopped");

    notified.countDown();
    assertThatCode(() -> Waiters.end(holder, List.of(stubborn), Duration.ofSeconds(10)))
        .doesNotThrowAnyException();
  }

  private static Thread started(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void awaitWithoutInterruption(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // as one whose driver keeps it to itself
      }
    }
  }
}
