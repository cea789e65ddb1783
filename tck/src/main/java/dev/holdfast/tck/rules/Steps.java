package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** The requests of one operation, each of which a link holds back in turn. */
final class Steps {
  /** More than any operation takes on one node. */
  static final int MAX = 12;

  /** The time that an operation may take to its next step, or a node to carry it out. */
  static final Duration TIME = Duration.ofMillis(100);

  private Steps() {}

  /** Returns whether a condition comes true before an operation is over, or soon after that. */
  static boolean comes(TckFixture fixture, Call<?> call, BooleanSupplier come) {
    long[] overSince = {0};
    fixture
        .soon()
        .until(
            "a request was held back, or the operation was over",
            () -> {
              if (call.isOver() && overSince[0] == 0) {
                overSince[0] = System.nanoTime();
              }
              return come.getAsBoolean()
                  || (overSince[0] != 0 && Elapsed.since(overSince[0]).compareTo(TIME) > 0);
            });
    return come.getAsBoolean();
  }

  /** Leaves the test out if nothing is held back, because then it shows nothing. */
  static void needsOne(int passing) {
    if (passing == 0) {
      abort("this environment's links hold nothing back, or the operation asks no node");
    }
  }
}
