package dev.holdfast.core;

import dev.holdfast.LockListener;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * The methods that set {@link ManagerOptions}. Builders and options of backends have them by
 * implementing one method.
 *
 * @param <S> the builder or the options
 */
public interface ManagerSettings<S> {
  /**
   * Changes the options that all managers have. {@code any -> options} replaces them.
   *
   * @param change from the present options to new ones
   * @return this builder, or new options if they are immutable
   */
  S managerOptions(UnaryOperator<ManagerOptions> change);

  /**
   * Sets the clock. The parts that the manager is built on use the same clock.
   *
   * @param clock default {@link Clock#system()}
   * @return this builder, or new options if they are immutable
   */
  default S clock(Clock clock) {
    return managerOptions(options -> options.clock(clock));
  }

  /**
   * Sets the scheduler of timers. The manager does not close it.
   *
   * @param scheduler default: daemon threads of the manager's own
   * @return this builder, or new options if they are immutable
   */
  default S scheduler(Scheduler scheduler) {
    return managerOptions(options -> options.scheduler(scheduler));
  }

  /**
   * Sets the source of pauses.
   *
   * @param random safe for use by many threads, by default {@link ThreadLocalRandom}
   * @return this builder, or new options if they are immutable
   */
  default S random(RandomGenerator random) {
    return managerOptions(options -> options.random(random));
  }

  /**
   * Sets the executor on which users' stages complete. Their callbacks may block there, and delay
   * no lease. A task that the executor refuses, or runs inside its own {@code execute}, runs on a
   * thread of the manager's own. A task that the executor drops without a word leaves its stage
   * incomplete. The manager does not shut it down.
   *
   * @param callbacks default: daemon threads of the manager's own, as many as are needed
   * @return this builder, or new options if they are immutable
   */
  default S callbacks(Executor callbacks) {
    return managerOptions(options -> options.callbacks(callbacks));
  }

  /**
   * Sets the retry delay, the longest pause between two attempts of one waiter. Each pause is drawn
   * from the upper half of the delay.
   *
   * @param retryDelay above zero, at most an hour, by default 200 ms
   * @return this builder, or new options if they are immutable
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  default S retryDelay(Duration retryDelay) {
    return managerOptions(options -> options.retryDelay(retryDelay));
  }

  /**
   * Sets the longest ttl that a request may have.
   *
   * @param maxTtl above zero, at most 365 days, by default 60 s
   * @return this builder, or new options if they are immutable
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  default S maxTtl(Duration maxTtl) {
    return managerOptions(options -> options.maxTtl(maxTtl));
  }

  /**
   * Sets the label of holders whose request has none.
   *
   * @param owner 1 to 256 bytes in UTF-8, by default {@code host:pid}
   * @return this builder, or new options if they are immutable
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  default S ownerLabel(String owner) {
    return managerOptions(options -> options.ownerLabel(owner));
  }

  /**
   * Adds a listener, which learns of everything from the opening of the manager on, and listens
   * until the manager is closed.
   *
   * @param listener called inline. See {@link LockListener} for how it must behave. Each call of
   *     this method adds one
   * @return this builder, or new options if they are immutable
   */
  default S listener(LockListener listener) {
    return managerOptions(options -> options.listener(listener));
  }
}
