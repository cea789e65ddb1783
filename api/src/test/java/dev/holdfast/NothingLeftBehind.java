package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A check after each test that its thread has no current lease and no interrupt. */
final class NothingLeftBehind implements AfterEachCallback {
  @Override
  public void afterEach(ExtensionContext context) {
    assertThat(Locks.current()).isEmpty();
    assertThat(Thread.interrupted()).as("an interrupt that a test left behind").isFalse();
  }
}
