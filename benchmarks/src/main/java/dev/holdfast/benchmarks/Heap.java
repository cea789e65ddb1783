package dev.holdfast.benchmarks;

import java.lang.management.ManagementFactory;

/** The heap of this process. */
final class Heap {
  private static final int COLLECTIONS = 3;

  private Heap() {}

  /** Returns the bytes in use after collections. */
  static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
