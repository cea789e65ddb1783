package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options that the managers of all backends have. Immutable: each method that changes an option
 * returns new options.
 */
public final class ManagerOptions implements ManagerSettings<ManagerOptions> {
  /** The default of the longest ttl: how long a holder's death can keep others out. */
  public static final Duration DEFAULT_MAX_TTL = Duration.ofSeconds(60);

  /** Maximum of the longest ttl. No sum of times overflows. */
  public static final Duration LONGEST_MAX_TTL = Duration.ofDays(365);

  /** The default of the longest pause between attempts. */
  public static final Duration DEFAULT_RETRY_DELAY = Duration.ofMillis(200);

  private static final ManagerOptions DEFAULTS =
      new ManagerOptions(
          Clock.system(), null, null, null, DEFAULT_RETRY_DELAY, DEFAULT_MAX_TTL, null, List.of());

  private final Clock clock;
  private final @Nullable Scheduler scheduler;
  private final @Nullable RandomGenerator random;
  private final @Nullable Executor callbacks;
  private final Duration retryDelay;
  private final Duration maxTtl;
  private final @Nullable String owner;
  private final List<LockListener> listeners;

  private ManagerOptions(
      Clock clock,
      @Nullable Scheduler scheduler,
      @Nullable RandomGenerator random,
      @Nullable Executor callbacks,
      Duration retryDelay,
      Duration maxTtl,
      @Nullable String owner,
      List<LockListener> listeners) {
    this.clock = clock;
    this.scheduler = scheduler;
    this.random = random;
    this.callbacks = callbacks;
    this.retryDelay = retryDelay;
    this.maxTtl = maxTtl;
    this.owner = owner;
    this.listeners = listeners;
  }

  /**
   * Returns the defaults.
   *
   * @return the defaults
   */
  public static ManagerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns the names of all options that a backend's URLs may have.
   *
   * @param ofBackend the names of the backend's own options
   * @return these names, and those of the options that {@link #read} reads
   */
  public static Set<String> namesAnd(String... ofBackend) {
    return Stream.concat(Stream.of("retryDelay", "maxTtl", "owner"), Stream.of(ofBackend))
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Sets the options that a URL has.
   *
   * @param url a URL, whose other options are ignored
   * @return new options
   * @throws LockConfigurationException if a value is out of range
   */
  public ManagerOptions read(LockUrl url) {
    ManagerOptions read =
        retryDelay(DurationRange.TIMEOUT.read(url, "retryDelay", retryDelay))
            .maxTtl(DurationRange.MAX_TTL.read(url, "maxTtl", maxTtl));
    String label = url.text("owner", "");
    return label.isEmpty() ? read : read.ownerLabel(label);
  }

  /**
   * Sets the options that a program gives in code when it opens a manager by a URL.
   *
   * @param settings the argument of {@link dev.holdfast.spi.LockProvider#open(LockUrl,
   *     OpenSettings)}
   * @return new options, or these if nothing is set
   */
  public ManagerOptions apply(OpenSettings settings) {
    ManagerOptions applied = settings.callbackExecutor().map(this::callbacks).orElse(this);
    applied = settings.wallClock().map(Clock::withWall).map(applied::clock).orElse(applied);
    for (LockListener listener : settings.listeners()) {
      applied = applied.listener(listener);
    }
    return applied;
  }

  @Override
  public ManagerOptions managerOptions(UnaryOperator<ManagerOptions> change) {
    return change.apply(this);
  }

  @Override
  public ManagerOptions clock(Clock clock) {
    Objects.requireNonNull(clock, "clock");
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions scheduler(Scheduler scheduler) {
    Objects.requireNonNull(scheduler, "scheduler");
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions random(RandomGenerator random) {
    Objects.requireNonNull(random, "random");
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions callbacks(Executor callbacks) {
    Objects.requireNonNull(callbacks, "callbacks");
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions retryDelay(Duration retryDelay) {
    DurationRange.TIMEOUT.require("retryDelay", retryDelay);
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions maxTtl(Duration maxTtl) {
    DurationRange.MAX_TTL.require("maxTtl", maxTtl);
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, listeners);
  }

  @Override
  public ManagerOptions ownerLabel(String owner) {
    String label = OwnerLabel.of(owner);
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, label, listeners);
  }

  @Override
  public ManagerOptions listener(LockListener listener) {
    List<LockListener> more = new ArrayList<>(listeners);
    more.add(Objects.requireNonNull(listener, "listener"));
    return new ManagerOptions(
        clock, scheduler, random, callbacks, retryDelay, maxTtl, owner, List.copyOf(more));
  }

  /**
   * Returns the clock.
   *
   * @return the clock
   */
  public Clock clock() {
    return clock;
  }

  /**
   * Returns the scheduler, or empty if the manager has its own.
   *
   * @return not closed by the manager
   */
  public Optional<Scheduler> scheduler() {
    return Optional.ofNullable(scheduler);
  }

  /**
   * Returns the source of pauses, or empty if each thread has its own.
   *
   * @return safe for use by many threads
   */
  public Optional<RandomGenerator> random() {
    return Optional.ofNullable(random);
  }

  /**
   * Returns the longest ttl that a request may have.
   *
   * @return above zero
   */
  public Duration maxTtl() {
    return maxTtl;
  }

  Duration retryDelay() {
    return retryDelay;
  }

  Optional<Executor> callbacks() {
    return Optional.ofNullable(callbacks);
  }

  List<LockListener> listeners() {
    return listeners;
  }

  /** Returns the label, or that of this process. */
  String ownerLabel() {
    return owner == null ? OwnerLabel.ofThisProcess() : owner;
  }
}
