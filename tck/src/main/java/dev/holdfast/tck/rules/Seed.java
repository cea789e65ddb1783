package dev.holdfast.tck.rules;

import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Randomness that can be had again: {@code -Dholdfast.seed=…} with what a failure printed. */
final class Seed {
  private final long seed =
      Long.getLong("holdfast.seed", System.nanoTime() ^ (Thread.currentThread().hashCode() << 20));
  private final Random random = new Random(seed);

  /** Lets some time pass, too short for a sleep to hit. */
  void pauseUpTo(long micros) {
    long end = System.nanoTime() + random.nextLong(1_000 * micros);
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(1_000);
    }
  }

  boolean nextBoolean() {
    return random.nextBoolean();
  }

  /** Returns a number from zero up to a bound, which it does not reach. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  <T> T oneOf(List<? extends T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  @Override
  public String toString() {
    return "-Dholdfast.seed=" + seed;
  }
}
