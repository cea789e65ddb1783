package dev.holdfast.legacy.migrate;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.ManagerSettings;
import java.util.function.UnaryOperator;

/**
 * Opens managers that hold two locks as one while a fleet moves from an old lock to a new one,
 * process by process. At no time do two processes own the lock: a process with such a manager
 * excludes the processes that know only the old lock, and those that know only the new one.
 *
 * <pre>{@code
 * LockManager locks = MigrationLockManager.both(oldLocks, newLocks).open();
 * }</pre>
 *
 * <p>The old lock is taken first, then the new one. They are released in reverse order. The
 * remaining time of a lease is the smaller of the two, and the loss of either lock is a loss. An
 * extension also rewrites the old pattern's time stamp.
 */
public final class MigrationLockManager {
  private MigrationLockManager() {}

  /**
   * Starts with two managers, which the one that is opened uses alone, and closes when it is
   * closed. Their own longest ttl, pause and owner are not asked.
   *
   * @param from gives out the old locks
   * @param to gives out the new ones, other locks than the old
   * @return a new builder
   */
  public static Builder both(LockManager from, LockManager to) {
    return new Builder(from, to);
  }

  /** The settings of a manager. Not safe for use by many threads. */
  public static final class Builder implements ManagerSettings<Builder> {
    private final LockManager from;
    private final LockManager to;

    /** Applied when the manager is opened, because a wrong option closes both managers. */
    private UnaryOperator<ManagerOptions> changes = UnaryOperator.identity();

    private Builder(LockManager from, LockManager to) {
      this.from = from;
      this.to = to;
    }

    /**
     * Changes the options of the manager when it is opened. Its longest ttl is no longer than
     * either of the two managers allows. Its clock is the clock of both managers.
     *
     * @param change from the present options to new ones
     * @return this
     */
    @Override
    public Builder managerOptions(UnaryOperator<ManagerOptions> change) {
      UnaryOperator<ManagerOptions> before = changes;
      changes = options -> change.apply(before.apply(options));
      return this;
    }

    /**
     * Opens the manager. If that fails, both managers are closed.
     *
     * @return a new manager, to be closed by the caller
     * @throws LockConfigurationException if one of the two is not built on {@link
     *     dev.holdfast.core.LockPrimitive}, or a duration or the owner is out of range
     */
    public LockManager open() {
      try {
        ManagerOptions options = changes.apply(ManagerOptions.defaults());
        return LockManagerBuilder.over(new BothPrimitive(from, to, options.clock()), options)
            .build();
      } catch (Throwable e) {
        try (from;
            to) {
          throw e;
        }
      }
    }
  }
}
