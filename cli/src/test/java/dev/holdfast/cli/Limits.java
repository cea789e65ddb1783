package dev.holdfast.cli;

import java.time.Duration;

public final class Limits {
  /** For what happens at once unless the machine is overloaded. */
  public static final Duration LONG = Duration.ofSeconds(150);

  private Limits() {}
}
