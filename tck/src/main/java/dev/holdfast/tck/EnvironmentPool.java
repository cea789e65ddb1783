package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.rules.Alone;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * The environments of one run of the kit: one for each test that runs at the same time.
 * Thread-safe; a thread other than the one that borrowed an environment may give it back.
 */
final class EnvironmentPool {
  /** More tests than any JUnit runs at the same time. */
  private static final int MAX_TESTS = 1_000;

  private final Supplier<TckEnvironment> environments;
  private final Semaphore free;
  private final Semaphore jvm = new Semaphore(MAX_TESTS, true);
  private final Deque<TckEnvironment> idle = new ArrayDeque<>();
  private final List<TckEnvironment> all = new ArrayList<>();

  /**
   * Makes no environment yet.
   *
   * @param first an environment that is there already
   * @param environments makes others
   */
  EnvironmentPool(TckEnvironment first, Supplier<TckEnvironment> environments) {
    this.environments = environments;
    this.free = new Semaphore(first.isIsolated() ? MAX_TESTS : 1);
    idle.add(first);
    all.add(first);
  }

  /** Returns an environment that no other test has, and makes one if there is none. */
  TckEnvironment borrow() {
    free.acquireUninterruptibly();
    synchronized (this) {
      TckEnvironment present = idle.poll();
      if (present != null) {
        return present;
      }
    }
    try {
      TckEnvironment made = environments.get();
      synchronized (this) {
        all.add(made);
      }
      return made;
    } catch (RuntimeException | Error e) {
      free.release();
      throw e;
    }
  }

  synchronized void giveBack(TckEnvironment environment) {
    idle.push(environment);
    free.release();
  }

  /** Waits until the test may run beside those that run. */
  void enter(Method test) {
    jvm.acquireUninterruptibly(share(test));
  }

  void leave(Method test) {
    jvm.release(share(test));
  }

  private static int share(Method test) {
    return test.isAnnotationPresent(Alone.class) ? MAX_TESTS : 1;
  }

  /** Closes all environments, whatever the others throw. */
  synchronized void close() {
    RuntimeException first = null;
    for (TckEnvironment environment : all) {
      try {
        environment.close();
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
