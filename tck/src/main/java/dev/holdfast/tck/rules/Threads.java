package dev.holdfast.tck.rules;

import java.util.HashSet;
import java.util.Set;

/** The threads of one test: a thread is of the group of its maker. */
final class Threads {
  /** Number of managers that are used; one thread of each is too many. */
  private static final int MANAGERS = 5;

  private Threads() {}

  /** All that this test or what it calls has started, and that are still there. */
  static Set<Thread> ofThisTest() {
    ThreadGroup ours = Thread.currentThread().getThreadGroup();
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(
        thread -> thread.getThreadGroup() == null || !ours.parentOf(thread.getThreadGroup()));
    return threads;
  }

  /** Uses some managers. What all in this process share grows at first, but not for ever. */
  static void requireFewLeft(TckFixture fixture, String what, Eventually.Assertions useAndClose) {
    fixture
        .soon()
        .until(
            MANAGERS + " " + what,
            () -> {
              Set<Thread> before = ofThisTest();
              for (int i = 0; i < MANAGERS; i++) {
                useAndClose.run();
              }
              return Attempts.comes(() -> since(before) < MANAGERS);
            });
  }

  /** How many there are in addition to these. */
  static int since(Set<Thread> before) {
    Set<Thread> since = ofThisTest();
    since.removeAll(before);
    return since.size();
  }
}
