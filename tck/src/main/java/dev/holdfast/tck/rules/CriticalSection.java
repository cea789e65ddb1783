package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** The section that a lock protects: notices two owners at once, and loses updates if there are. */
public final class CriticalSection {
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger entries = new AtomicInteger();
  private final AtomicInteger overlaps = new AtomicInteger();
  private volatile int value;

  /** Reads, lets others run, and writes back. */
  public void enter() {
    if (inside.incrementAndGet() > 1) {
      overlaps.incrementAndGet();
    }
    int read = value;
    LockSupport.parkNanos(10_000);
    value = read + 1;
    inside.decrementAndGet();
    entries.incrementAndGet();
  }

  public int entries() {
    return entries.get();
  }

  /**
   * Asserts that there were never two owners at once. Another rule covers the number of entries.
   */
  public void assertNeverTwo() {
    assertThat(overlaps).as("two owners at once").hasValue(0);
    assertThat(value).as("updates that were not lost").isEqualTo(entries.get());
  }
}
