package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * The environments of one run of the kit, one for each test that runs at the same time.
 * Thread-safe. A slot may be released by a thread other than the one that borrowed it.
 */
final class EnvironmentPool {
  /** More tests than any JUnit runs at the same time. */
  private static final int MAX_TESTS = 1_000;

  private final Supplier<TckEnvironment> environments;
  private final Semaphore free;
  private final Deque<TestSlot> idle = new ArrayDeque<>();
  private final List<TestSlot> all = new ArrayList<>();

  /**
   * Makes no environment yet.
   *
   * @param first one that is there already
   * @param environments makes others
   */
  EnvironmentPool(TestSlot first, Supplier<TckEnvironment> environments) {
    this.environments = environments;
    this.free = new Semaphore(first.environment().isIsolated() ? MAX_TESTS : 1);
    idle.add(first);
    all.add(first);
  }

  /** Returns a slot that no other test has, and makes one if there is none. */
  TestSlot borrow() {
    free.acquireUninterruptibly();
    synchronized (this) {
      TestSlot present = idle.poll();
      if (present != null) {
        return present;
      }
    }
    try {
      TestSlot made = TestSlot.of(environments);
      synchronized (this) {
        all.add(made);
      }
      return made;
    } catch (RuntimeException | Error e) {
      free.release();
      throw e;
    }
  }

  synchronized void release(TestSlot slot) {
    idle.push(slot);
    free.release();
  }

  /** Closes all environments, whatever the others throw. */
  synchronized void close() {
    RuntimeException first = null;
    for (TestSlot slot : all) {
      try {
        slot.environment().close();
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
