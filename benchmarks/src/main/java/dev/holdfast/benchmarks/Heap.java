package dev.holdfast.benchmarks;

import java.lang.management.ManagementFactory;

/** What is on this process' heap. */
final class Heap {
  private static final int COLLECTIONS = 3;

  private Heap() {}

  /** In use after collections, in bytes. */
  static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
