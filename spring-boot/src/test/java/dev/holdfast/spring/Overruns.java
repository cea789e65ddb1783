package dev.holdfast.spring;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The overruns that a manager reports. */
final class Overruns {
  private Overruns() {}

  /** Returns a list to which each overrun of the manager is added, in nanoseconds. */
  static List<Long> of(LockManager locks) {
    List<Long> overruns = new CopyOnWriteArrayList<>();
    locks.addListener(
        new LockListener() {
          @Override
          public void onOverrun(String name, long leaseId, long overrunNanos) {
            overruns.add(overrunNanos);
          }
        });
    return overruns;
  }
}
