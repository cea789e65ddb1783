package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockException;

/** The frames of exceptions that blocking calls throw. */
final class CallersFrames {
  private CallersFrames() {}

  /** Asserts that the exception is that of the backend, with the frames of the test. */
  static void assertIsFromHere(Throwable thrown, LockException ofTheBackend) {
    assertThat(thrown)
        .isNotSameAs(ofTheBackend)
        .hasSameClassAs(ofTheBackend)
        .hasMessage(ofTheBackend.getMessage());
    assertThat(thrown.getCause()).isSameAs(ofTheBackend.getCause());
    assertThat(thrown.getStackTrace())
        .extracting(StackTraceElement::getClassName)
        .doesNotContain(ofTheBackend.getClass().getName())
        .anyMatch(
            name -> name.equals(CoreLockManager.class.getName()) || name.endsWith("DefaultLease"));
  }

  /** Asserts that a failure is that of the backend, for one of several who see it. */
  static void assertIsCopyOf(LockException ofTheBackend, Throwable failure) {
    assertThat(failure)
        .isNotSameAs(ofTheBackend)
        .hasSameClassAs(ofTheBackend)
        .hasMessage(ofTheBackend.getMessage());
    assertThat(failure.getCause()).isSameAs(ofTheBackend.getCause());
    assertThat(failure.getStackTrace()).isEqualTo(ofTheBackend.getStackTrace());
  }
}
