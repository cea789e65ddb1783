package dev.holdfast.cli;

import java.time.Duration;

final class Limits {
  /** For what happens at once unless the machine is overloaded. */
  static final Duration LONG = Duration.ofSeconds(60);

  private Limits() {}
}
