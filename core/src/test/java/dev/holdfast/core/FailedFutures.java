package dev.holdfast.core;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The failures of futures that have failed by now. */
final class FailedFutures {
  private FailedFutures() {}

  /** Returns the exception that a future has completed with. */
  static Throwable failureOf(CompletableFuture<?> future) {
    assertThat(future).isCompletedExceptionally();
    return requireNonNull(catchThrowableOfType(ExecutionException.class, future::get).getCause());
  }
}
