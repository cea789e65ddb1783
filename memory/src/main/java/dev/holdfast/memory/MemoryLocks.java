package dev.holdfast.memory;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.ManagerSettings;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Opens managers whose locks live in this process.
 *
 * <pre>{@code
 * LockManager locks = MemoryLocks.builder().clock(new ManualClock()).open();
 * }</pre>
 */
public final class MemoryLocks {
  /**
   * The longest pause between two attempts of one who waits, unless another is set. Short, because
   * a look into memory costs nothing, and tests should not wait.
   */
  public static final Duration DEFAULT_RETRY_DELAY = Duration.ofMillis(10);

  private MemoryLocks() {}

  /**
   * Starts with a store of its own, on the machine's clock.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * The settings of a manager, whose clock is always that of the store. Not safe for use by many
   * threads.
   */
  public static final class Builder implements ManagerSettings<Builder> {
    private MemoryStore store = new MemoryStore(Clock.system());
    private ManagerOptions options = ManagerOptions.defaults().retryDelay(DEFAULT_RETRY_DELAY);
    private KeyPrefix keyPrefix = new KeyPrefix("");

    private Builder() {}

    /**
     * Has a new store of the manager's own, on this clock. The manager's timers go by a {@link
     * ManualClock}, too. For another clock give a {@link #scheduler} that goes by it: otherwise no
     * lease is renewed, and no loss is reported, when the clock is moved.
     *
     * @param clock default {@link Clock#system()}
     * @return this
     */
    @Override
    public Builder clock(Clock clock) {
      return store(new MemoryStore(clock));
    }

    /**
     * Shares another manager's store, with its clock.
     *
     * @param store the result of {@link LockManager#unwrap} for {@link MemoryStore}
     * @return this
     */
    public Builder store(MemoryStore store) {
      this.store = store;
      return this;
    }

    @Override
    public Builder managerOptions(UnaryOperator<ManagerOptions> change) {
      options = change.apply(options);
      return this;
    }

    /**
     * Sets the text that stands before the name of each lock in its key. Managers that share a
     * store exclude each other where prefix and name together are equal. {@link MemoryStore} takes
     * and shows such keys.
     *
     * @param keyPrefix default empty
     * @return this
     */
    public Builder keyPrefix(String keyPrefix) {
      this.keyPrefix = new KeyPrefix(keyPrefix);
      return this;
    }

    /**
     * Opens a manager.
     *
     * @return a new manager, to be closed by the caller. {@link LockManager#unwrap} gives its
     *     {@link MemoryStore}, and its {@link ManualClock} if it has one
     * @throws dev.holdfast.LockConfigurationException if no thread can be started
     */
    public LockManager open() {
      Clock clock = store.clock();
      ManagerOptions onTime =
          clock instanceof ManualClock manual && options.scheduler().isEmpty()
              ? options.scheduler(manual.timers())
              : options;
      return LockManagerBuilder.over(new MemoryPrimitive(store, keyPrefix), onTime)
          .clock(clock)
          .build();
    }
  }
}
