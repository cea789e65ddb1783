package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Calls that a manager refuses as mistakes. */
final class Refusals {
  private Refusals() {}

  static void assertRefused(Eventually.Assertions call) {
    assertThatThrownBy(call::run).isInstanceOf(LockConfigurationException.class);
  }

  static void assertRefused(TckFixture fixture, CompletableFuture<?> result) {
    assertThat(result)
        .failsWithin(fixture.timing().soon())
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockConfigurationException.class);
  }
}
