package dev.holdfast.testnodes;

import java.time.Duration;

final class Limits {
  /** Long enough for an answer over loopback, short enough to wait for one that never comes. */
  static final Duration SHORT = Duration.ofMillis(150);

  /** For what happens at once unless the machine is overloaded. */
  static final Duration LONG = Duration.ofSeconds(10);

  private Limits() {}
}
