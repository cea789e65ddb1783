package dev.holdfast.spring.test;

import dev.holdfast.LockManager;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;

/** Opens managers in memory on one clock, each with locks of its own. */
final class MemoryManagers {
  private final ManualClock clock;

  MemoryManagers(ManualClock clock) {
    this.clock = clock;
  }

  LockManager open() {
    return MemoryLocks.builder().clock(clock).open();
  }
}
