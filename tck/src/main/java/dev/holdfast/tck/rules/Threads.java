package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** The threads of one test and its environment: a thread is of the group of its maker. */
final class Threads {
  /** Number of managers that are used. One thread of each is too many. */
  static final int MANAGERS = 5;

  /** Runs each task on a new thread. A test may have blocked the JDK's common pool. */
  static final Executor EACH_ITS_OWN =
      task -> {
        Thread thread = new Thread(task, "task");
        thread.setDaemon(true);
        thread.start();
      };

  /** The time that threads of a closed manager may take to end on a busy machine. */
  private static final Duration TO_END = Duration.ofSeconds(1);

  private Threads() {}

  /** Returns how long a new thread takes to run, which a caller may take to get its answer. */
  static Duration wakeUp() {
    long begun = System.nanoTime();
    return Duration.ofNanos(
        CompletableFuture.supplyAsync(System::nanoTime, EACH_ITS_OWN).join() - begun);
  }

  /**
   * Returns the live threads that this test, its environment, or the code that they call, has
   * started.
   */
  static Set<Thread> ofThisTest() {
    ThreadGroup ours = Thread.currentThread().getThreadGroup();
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(
        thread -> thread.getThreadGroup() == null || !ours.parentOf(thread.getThreadGroup()));
    return threads;
  }

  /**
   * Uses some managers, and requires that few threads are left. The number of threads that the
   * whole process shares grows at first, but not forever. Therefore the first round may not count,
   * however long it takes.
   */
  static void requireFewLeft(TckFixture fixture, String what, Eventually.Assertions useAndClose) {
    requireFewLeftOfAll(
        fixture,
        what,
        () -> {
          for (int i = 0; i < MANAGERS; i++) {
            useAndClose.run();
          }
        });
  }

  /** Does the same with an action that uses and closes all {@link #MANAGERS} managers. */
  static void requireFewLeftOfAll(
      TckFixture fixture, String what, Eventually.Assertions useAndCloseAll) {
    fixture.soon().until(MANAGERS + " " + what, () -> leavesFew(useAndCloseAll));
  }

  private static boolean leavesFew(Eventually.Assertions useAndCloseAll) throws Exception {
    for (int round = 0; round < 2; round++) {
      Set<Thread> before = ofThisTest();
      useAndCloseAll.run();
      if (Attempts.comes(TO_END, () -> since(before) < MANAGERS)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the number of threads that are not among these. */
  static int since(Set<Thread> before) {
    Set<Thread> since = ofThisTest();
    since.removeAll(before);
    return since.size();
  }
}
