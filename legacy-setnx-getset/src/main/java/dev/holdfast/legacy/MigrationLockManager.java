package dev.holdfast.legacy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Opens managers that hold two locks as one: for the time in which a fleet moves from an old lock
 * to a new one, process by process, with no moment at which two own it. A process that does so
 * keeps out those that know the old lock alone, and those that know the new one alone.
 *
 * <pre>{@code
 * LockManager locks = MigrationLockManager.both(oldLocks, newLocks).open();
 * }</pre>
 *
 * <p>The old lock is taken first, then the new one; they are given back in reverse. What is left of
 * a lease is the smaller of what is left of the two, and the loss of either is a loss. Where an
 * extension is asked for, the old pattern's time stamp is rewritten, too.
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

  /** How a manager is to be. Not safe for use by many threads. */
  public static final class Builder {
    private final LockManager from;
    private final LockManager to;
    private Clock clock = Clock.system();
    private Consumer<LockManagerBuilder> settings = b -> {};

    private Builder(LockManager from, LockManager to) {
      this.from = from;
      this.to = to;
    }

    /**
     * Sets where time comes from. It must be the clock that both managers use.
     *
     * @param clock default {@link Clock#system()}
     * @return this
     */
    public Builder clock(Clock clock) {
      this.clock = clock;
      return this;
    }

    /**
     * Sets what runs timers. The manager does not close it.
     *
     * @param scheduler default: daemon threads of the manager's own
     * @return this
     */
    public Builder scheduler(Scheduler scheduler) {
      return with(b -> b.scheduler(scheduler));
    }

    /**
     * Sets where users' stages complete. The manager does not shut it down.
     *
     * @param callbacks default: daemon threads of the manager's own
     * @return this
     */
    public Builder callbacks(Executor callbacks) {
      return with(b -> b.callbacks(callbacks));
    }

    /**
     * Sets the longest pause between two attempts of one who waits; each is drawn from its upper
     * half.
     *
     * @param retryDelay above zero; default {@link LockManagerBuilder#DEFAULT_RETRY_DELAY}
     * @return this
     */
    public Builder retryDelay(Duration retryDelay) {
      return with(b -> b.retryDelay(retryDelay));
    }

    /**
     * Sets the longest ttl that may be asked for: no longer than either of the two managers allows.
     *
     * @param maxTtl above zero; default {@link LockManagerBuilder#DEFAULT_MAX_TTL}
     * @return this
     */
    public Builder maxTtl(Duration maxTtl) {
      return with(b -> b.maxTtl(maxTtl));
    }

    /**
     * Sets the label of holders whose request has none.
     *
     * @param owner 1 to 256 bytes in UTF-8; default {@code host:pid}
     * @return this
     */
    public Builder owner(String owner) {
      return with(b -> b.owner(owner));
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
        LockManagerBuilder builder =
            LockManagerBuilder.over(new BothPrimitive(from, to, clock)).clock(clock);
        settings.accept(builder);
        return builder.build();
      } catch (LockConfigurationException e) {
        to.close();
        from.close();
        throw e;
      }
    }

    private Builder with(Consumer<LockManagerBuilder> setting) {
      settings = settings.andThen(setting);
      return this;
    }
  }
}
