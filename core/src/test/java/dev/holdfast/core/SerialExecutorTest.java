package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {
  private final SerialExecutor executor = new SerialExecutor();

  @Test
  void manyTasksThatEndAtOnceDoNotOverflowTheStack() {
    CompletableFuture<Void> first = executor.execute(result -> {});
    List<CompletableFuture<Void>> others =
        IntStream.range(0, 100_000)
            .mapToObj(i -> executor.execute(result -> result.complete(null)))
            .toList();

    first.complete(null);

    assertThat(others.stream().filter(CompletableFuture::isDone)).hasSize(others.size());
    assertThat(executor.isIdle()).isTrue();
  }

  @Test
  void aTaskThatThrowsFailsAndDelaysNoOther() {
    CompletableFuture<Void> broken =
        executor.execute(
            result -> {
              throw new IllegalStateException("broken");
            });
    CompletableFuture<Void> next = executor.execute(result -> result.complete(null));

    assertThat(broken).isCompletedExceptionally();
    assertThat(next).isCompleted();
  }
}
