package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The time by which calls exceeded their limits. */
final class Overruns {
  private final List<Long> late = new ArrayList<>();
  private long count;

  void add(long nanos) {
    count++;
    if (nanos > 0) {
      late.add(nanos);
    }
  }

  long count() {
    return count;
  }

  /** Returns the time that 999 of 1,000 calls did not exceed. */
  Duration of999In1000() {
    long exceed = count / 1_000;
    if (late.size() <= exceed) {
      return Duration.ZERO;
    }
    Collections.sort(late);
    return Duration.ofNanos(late.get((int) (late.size() - 1 - exceed)));
  }

  Duration longest() {
    return Duration.ofNanos(late.stream().mapToLong(Long::longValue).max().orElse(0));
  }
}
