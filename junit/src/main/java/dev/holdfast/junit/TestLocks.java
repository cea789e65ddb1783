package dev.holdfast.junit;

import dev.holdfast.LockManager;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ParameterResolutionException;

/** The manager of a test or of a class of tests, and what was asked of it. */
final class TestLocks implements AutoCloseable {
  private final LockManager manager;
  private final LockJournal journal = new LockJournal();
  private final LockManager recorded;

  private TestLocks(LockManager manager) {
    this.manager = manager;
    this.recorded = new RecordingLockManager(manager, journal);
  }

  static TestLocks open(Supplier<? extends LockManager> opener) {
    return new TestLocks(
        Objects.requireNonNull(opener.get(), "the supplier returned no LockManager"));
  }

  /**
   * Returns the manager, or a part of it.
   *
   * @throws ParameterResolutionException if it has no such part
   */
  Object get(Class<?> type) {
    if (type == LockManager.class) {
      return recorded;
    }
    return manager
        .unwrap(type)
        .orElseThrow(
            () ->
                new ParameterResolutionException(
                    "the lock manager of this test has no "
                        + type.getSimpleName()
                        + ": locks in memory on a ManualClock have one; remove the parameter, or"
                        + " use the extension without a URL"));
  }

  /**
   * Requires that all leases have ended.
   *
   * @throws AssertionError if one is held
   */
  void requireNoLease() {
    List<String> open = journal.open();
    if (!open.isEmpty()) {
      throw new AssertionError(
          open.size()
              + (open.size() == 1 ? " lease was" : " leases were")
              + " left open; release each lease, best with try-with-resources:"
              + lines(open));
    }
  }

  /** Adds the state of all locks to a failure. */
  void describeTo(Throwable failure) {
    List<String> all = journal.all(manager);
    if (!all.isEmpty()) {
      failure.addSuppressed(new LocksAtFailure(lines(all)));
    }
  }

  @Override
  public void close() {
    manager.close();
  }

  private static String lines(List<String> texts) {
    return "\n  " + String.join("\n  ", texts);
  }
}
