package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Makes a manager of a primitive. For authors of backends, who show their own users what of this
 * makes sense. Not safe for use by many threads.
 */
public final class LockManagerBuilder {
  /** The longest ttl unless another is set: how long a holder's death can keep others out. */
  public static final Duration DEFAULT_MAX_TTL = Duration.ofSeconds(60);

  /** The longest ttl that any manager can be set to allow; so no sum of times overflows. */
  public static final Duration LONGEST_MAX_TTL = Duration.ofDays(365);

  /** The longest pause between attempts unless another is set. */
  public static final Duration DEFAULT_RETRY_DELAY = Duration.ofMillis(200);

  private final LockPrimitive primitive;
  private Clock clock = Clock.system();
  private RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
  private Duration retryDelay = DEFAULT_RETRY_DELAY;
  private Duration maxTtl = DEFAULT_MAX_TTL;
  private @Nullable Scheduler scheduler;
  private @Nullable Executor callbacks;
  private @Nullable String owner;

  private LockManagerBuilder(LockPrimitive primitive) {
    this.primitive = primitive;
  }

  /**
   * Starts with a primitive, which the manager closes when it is closed.
   *
   * @param primitive the backend
   * @return a new builder
   */
  public static LockManagerBuilder over(LockPrimitive primitive) {
    return new LockManagerBuilder(primitive);
  }

  /**
   * Sets where time comes from. It must be the clock that the primitive uses.
   *
   * @param clock default {@link Clock#system()}
   * @return this
   */
  public LockManagerBuilder clock(Clock clock) {
    this.clock = clock;
    return this;
  }

  /**
   * Sets what runs timers. The manager does not close it.
   *
   * @param scheduler default: daemon threads of the manager's own
   * @return this
   */
  public LockManagerBuilder scheduler(Scheduler scheduler) {
    this.scheduler = scheduler;
    return this;
  }

  /**
   * Sets what pauses are drawn from.
   *
   * @param random safe for use by many threads; default {@link ThreadLocalRandom}
   * @return this
   */
  public LockManagerBuilder random(RandomGenerator random) {
    this.random = random;
    return this;
  }

  /**
   * Sets where users' stages complete: their callbacks may block there, and delay no lease. A task
   * that the executor refuses, or runs inside its own {@code execute}, runs on a thread of the
   * manager's own. A task that the executor drops without a word leaves its stage incomplete. The
   * manager does not shut it down.
   *
   * @param callbacks default: daemon threads of the manager's own, as many as are needed
   * @return this
   */
  public LockManagerBuilder callbacks(Executor callbacks) {
    this.callbacks = callbacks;
    return this;
  }

  /**
   * Sets the longest pause between two attempts of one who waits; each is drawn from the upper
   * half.
   *
   * @param retryDelay above zero; default {@link #DEFAULT_RETRY_DELAY}
   * @return this
   */
  public LockManagerBuilder retryDelay(Duration retryDelay) {
    this.retryDelay = retryDelay;
    return this;
  }

  /**
   * Sets the longest ttl that may be asked for.
   *
   * @param maxTtl above zero, up to {@link #LONGEST_MAX_TTL}; default {@link #DEFAULT_MAX_TTL}
   * @return this
   */
  public LockManagerBuilder maxTtl(Duration maxTtl) {
    this.maxTtl = maxTtl;
    return this;
  }

  /**
   * Sets the label of holders whose request has none.
   *
   * @param owner 1 to 256 bytes in UTF-8; default {@code host:pid}
   * @return this
   */
  public LockManagerBuilder owner(String owner) {
    this.owner = owner;
    return this;
  }

  /**
   * Makes the manager.
   *
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if a duration or the owner is out of range, or no thread can
   *     be started
   */
  public LockManager build() {
    requirePositive("retryDelay", retryDelay);
    requirePositive("maxTtl", maxTtl);
    if (maxTtl.compareTo(LONGEST_MAX_TTL) > 0) {
      throw new LockConfigurationException(
          "maxTtl is "
              + Surroundings.text(maxTtl)
              + ": give at most "
              + LONGEST_MAX_TTL.toDays()
              + " days");
    }
    String label = owner == null ? OwnerLabel.ofThisProcess() : OwnerLabel.of(owner);
    Scheduler ownScheduler = scheduler == null ? Scheduler.create("holdfast-timer") : null;
    Scheduler timers = scheduler == null ? Objects.requireNonNull(ownScheduler) : scheduler;
    Surroundings surroundings =
        new Surroundings(
            primitive,
            withOwnCapabilities(primitive.capabilities()),
            clock,
            timers,
            random,
            callbacks == null ? timers::fork : new UserExecutor(callbacks, timers),
            Nanos.of(retryDelay),
            maxTtl,
            label,
            new Operations(timers),
            new UnconfirmedReleases(timers));
    return new CoreLockManager(
        surroundings,
        () -> {
          if (ownScheduler != null) {
            ownScheduler.close();
          }
        });
  }

  private static Set<LockCapability> withOwnCapabilities(Set<LockCapability> declared) {
    EnumSet<LockCapability> all = EnumSet.of(LockCapability.FIFO_IN_PROCESS);
    all.addAll(declared);
    if (all.contains(LockCapability.EXTENSION)) {
      all.add(LockCapability.KEEP_ALIVE);
    }
    return Collections.unmodifiableSet(all);
  }

  private static void requirePositive(String what, Duration duration) {
    if (duration.isZero() || duration.isNegative()) {
      throw new LockConfigurationException(what + " is " + duration + ": give more than zero");
    }
  }
}
