package dev.holdfast.redlock.spi;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class DriverThreadsTest {
  @Test
  void interruptedThreadKeepsWaitingAndStaysInterrupted() {
    CompletableFuture<String> later =
        new CompletableFuture<String>().completeOnTimeout("done", 50, MILLISECONDS);
    Thread.currentThread().interrupt();
    DriverThreads.await(Duration.ofSeconds(10), later);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(later).isCompleted();
  }

  @Test
  void theWaitEndsAtItsLimitAndWithAFailure() {
    DriverThreads.await(Duration.ofMillis(10), new CompletableFuture<>());
    DriverThreads.await(
        Duration.ofMinutes(1), CompletableFuture.failedFuture(new IllegalStateException("broken")));

    assertThat(Thread.interrupted()).isFalse();
  }
}
