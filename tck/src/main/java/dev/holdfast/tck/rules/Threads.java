package dev.holdfast.tck.rules;

import java.util.HashSet;
import java.util.Set;

/** The threads of one test: a thread is of the group of its maker. */
final class Threads {
  private Threads() {}

  /** All that this test or what it calls has started, and that are still there. */
  static Set<Thread> ofThisTest() {
    ThreadGroup ours = Thread.currentThread().getThreadGroup();
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(
        thread -> thread.getThreadGroup() == null || !ours.parentOf(thread.getThreadGroup()));
    return threads;
  }

  /** How many there are in addition to these. */
  static int since(Set<Thread> before) {
    Set<Thread> since = ofThisTest();
    since.removeAll(before);
    return since.size();
  }
}
