package dev.holdfast.memory;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Opens managers whose locks live in this process.
 *
 * <pre>{@code
 * LockManager locks = MemoryLocks.builder().clock(clock).scheduler(scheduler).open();
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

  /** How a manager is to be. Not safe for use by many threads. */
  public static final class Builder {
    private MemoryStore store = new MemoryStore(Clock.system());
    private Consumer<LockManagerBuilder> settings = b -> b.retryDelay(DEFAULT_RETRY_DELAY);

    private KeyPrefix keyPrefix = new KeyPrefix("");

    private Builder() {}

    /**
     * Has a new store of the manager's own, on this clock. Give a {@link #scheduler} that goes by
     * the same clock, or nothing is renewed and nobody told of a loss when the clock is moved.
     *
     * @param clock default {@link Clock#system()}
     * @return this
     */
    public Builder clock(Clock clock) {
      return store(new MemoryStore(clock));
    }

    /**
     * Shares another manager's store, with its clock.
     *
     * @param store what {@link LockManager#unwrap} gives for {@link MemoryStore}
     * @return this
     */
    public Builder store(MemoryStore store) {
      this.store = store;
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
     * @param retryDelay above zero; default {@link #DEFAULT_RETRY_DELAY}
     * @return this
     */
    public Builder retryDelay(Duration retryDelay) {
      return with(b -> b.retryDelay(retryDelay));
    }

    /**
     * Sets the longest ttl that may be asked for.
     *
     * @param maxTtl above zero, up to {@link LockManagerBuilder#LONGEST_MAX_TTL}; default {@link
     *     LockManagerBuilder#DEFAULT_MAX_TTL}
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
     * Sets the text that stands before the name of each lock in its key. Managers that share a
     * store exclude each other where prefix and name together are equal; {@link MemoryStore} takes
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
     * @return a new manager, to be closed by the caller; {@link LockManager#unwrap} gives its
     *     {@link MemoryStore}
     * @throws dev.holdfast.LockConfigurationException if a duration or the owner is out of range
     */
    public LockManager open() {
      LockManagerBuilder builder =
          LockManagerBuilder.over(new MemoryPrimitive(store, keyPrefix)).clock(store.clock());
      settings.accept(builder);
      return builder.build();
    }

    private Builder with(Consumer<LockManagerBuilder> setting) {
      settings = settings.andThen(setting);
      return this;
    }
  }
}
