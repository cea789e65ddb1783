package dev.holdfast.legacy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens lock managers over the old pattern: a time stamp as value, SETNX and GETSET to take it, DEL
 * to give it back. For fleets that run it already; for new ones there is Redlock.
 *
 * <pre>{@code
 * LockManager locks =
 *     SetnxLocks.builder()
 *         .node(URI.create("redis://h1:6379"))
 *         .unit(ChronoUnit.MILLIS)
 *         .open();
 * }</pre>
 *
 * <p>Each operation runs on one of up to eight daemon threads of the manager's own, whose names
 * begin with {@code holdfast-setnx-}, with a connection each.
 */
public final class SetnxLocks {
  /** As on the SETNX command's page. */
  public static final String DEFAULT_KEY_PREFIX = "lock.";

  /** What clocks of machines that are set by NTP are within, many times over. */
  public static final Duration DEFAULT_CLOCK_MARGIN = Duration.ofMillis(250);

  /** As Redlock's. */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  /** As Redlock's. */
  public static final Duration DEFAULT_QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /** As Redlock's. */
  public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(2);

  /** Of waits inside; sockets count milliseconds in an int. */
  static final Duration LONGEST = Duration.ofHours(1);

  static final String WRONG_LIMIT = "is out of range: give more than zero, up to 1h";

  private SetnxLocks() {}

  /**
   * Starts with the pattern as the SETNX page has it: whole seconds, and a release that looks at
   * the clock first.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** How a manager is to be. Not safe for use by many threads. */
  public static final class Builder {
    private @Nullable Address node;
    private StampFormat.Unit unit = StampFormat.Unit.SECONDS;
    private boolean floatingPoint;
    private boolean checkedRelease = true;
    private String keyPrefix = DEFAULT_KEY_PREFIX;
    private Duration clockMargin = DEFAULT_CLOCK_MARGIN;
    private Duration nodeTimeout = DEFAULT_NODE_TIMEOUT;
    private Duration quorumTimeout = DEFAULT_QUORUM_TIMEOUT;
    private Duration connectTimeout = DEFAULT_CONNECT_TIMEOUT;
    private boolean lazy;
    private Clock clock = Clock.system();
    private @Nullable Scheduler scheduler;
    private Consumer<LockManagerBuilder> manager = b -> {};

    private Builder() {}

    /**
     * Sets the server.
     *
     * @param uri {@code redis://[user[:password]@]host[:port][/db]}, or {@code rediss://} for TLS
     *     with the JVM's trust store
     * @return this
     * @throws LockConfigurationException if it is no such URI, or another one was set before
     */
    public Builder node(URI uri) {
      Address given = Address.of(uri);
      if (node != null) {
        throw new LockConfigurationException(
            "there are two nodes, "
                + node.text()
                + " and "
                + given.text()
                + ": give one; this lock lives on one server");
      }
      node = given;
      return this;
    }

    /**
     * Sets what time stamps count.
     *
     * @param unit {@link ChronoUnit#SECONDS}, the default, or {@link ChronoUnit#MILLIS}
     * @return this
     */
    public Builder unit(ChronoUnit unit) {
      this.unit =
          switch (unit) {
            case SECONDS -> StampFormat.Unit.SECONDS;
            case MILLIS -> StampFormat.Unit.MILLIS;
            default ->
                throw new LockConfigurationException(
                    "the unit is " + unit + ": give SECONDS or MILLIS");
          };
      return this;
    }

    /**
     * Sets whether time stamps have a fraction.
     *
     * @param floatingPoint default false
     * @return this
     */
    public Builder floatingPoint(boolean floatingPoint) {
      this.floatingPoint = floatingPoint;
      return this;
    }

    /**
     * Sets whether a release deletes the key only while its own stamp has not passed.
     *
     * @param checkedRelease default true; false deletes always, and with it, when it comes late,
     *     the next owner's lock
     * @return this
     */
    public Builder checkedRelease(boolean checkedRelease) {
      this.checkedRelease = checkedRelease;
      return this;
    }

    /**
     * Sets what stands before the name of each lock in its key.
     *
     * @param keyPrefix default {@code lock.}
     * @return this
     */
    public Builder keyPrefix(String keyPrefix) {
      this.keyPrefix = Objects.requireNonNull(keyPrefix, "keyPrefix");
      return this;
    }

    /**
     * Sets what must be left of a stamp that is to be extended, which a migration does: what clocks
     * may be apart by.
     *
     * @param clockMargin zero to an hour; default 250 ms
     * @return this
     */
    public Builder clockMargin(Duration clockMargin) {
      if (clockMargin.isNegative() || clockMargin.compareTo(LONGEST) > 0) {
        throw new LockConfigurationException(
            "clockMargin, " + clockMargin + ", is out of range: give 0s to 1h");
      }
      this.clockMargin = clockMargin;
      return this;
    }

    /**
     * Sets how long an attempt may go unanswered before those who wait behind it in line report an
     * outage, and not contention, when their wait ends.
     *
     * @param nodeTimeout above zero, at most an hour; default 50 ms
     * @return this
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = limited("nodeTimeout", nodeTimeout);
      return this;
    }

    /**
     * Sets how long an operation may take. An attempt never waits beyond the validity that its
     * grant would have.
     *
     * @param quorumTimeout above zero, at most an hour; default 1 s; where it is below {@code
     *     nodeTimeout}, {@code nodeTimeout} holds
     * @return this
     */
    public Builder quorumTimeout(Duration quorumTimeout) {
      this.quorumTimeout = limited("quorumTimeout", quorumTimeout);
      return this;
    }

    /**
     * Sets how long connecting may take.
     *
     * @param connectTimeout above zero, at most an hour; default 2 s
     * @return this
     */
    public Builder connectTimeout(Duration connectTimeout) {
      this.connectTimeout = limited("connectTimeout", connectTimeout);
      return this;
    }

    /**
     * Connects when the first lock is asked for, not when the manager is opened.
     *
     * @return this
     */
    public Builder connectLazily() {
      lazy = true;
      return this;
    }

    /**
     * Sets the longest pause between two attempts of one who waits; each is drawn from its upper
     * half.
     *
     * @param retryDelay above zero, at most an hour; default 200 ms
     * @return this
     */
    public Builder retryDelay(Duration retryDelay) {
      Duration delay = limited("retryDelay", retryDelay);
      return with(b -> b.retryDelay(delay));
    }

    /**
     * Sets the longest ttl that may be asked for.
     *
     * @param maxTtl above zero; default 60 s
     * @return this
     */
    public Builder maxTtl(Duration maxTtl) {
      return with(b -> b.maxTtl(maxTtl));
    }

    /**
     * Sets the label of holders whose request has none. Nobody sees it: a stamp has no room for it.
     *
     * @param owner 1 to 256 bytes in UTF-8; default {@code host:pid}
     * @return this
     */
    public Builder owner(String owner) {
      return with(b -> b.owner(owner));
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
     * Sets what runs timers. The manager does not close it.
     *
     * @param scheduler default: daemon threads of the manager's own
     * @return this
     */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /**
     * Sets where time comes from: stamps are written and compared by its wall clock.
     *
     * @param clock default {@link Clock#system()}
     * @return this
     */
    public Builder clock(Clock clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /**
     * Opens the manager. Connects, unless {@link #connectLazily} was said. A clock that is wrong by
     * more than a second against the server's is warned of.
     *
     * @return a new manager, to be closed by the caller
     * @throws LockConfigurationException if there is no node, a duration or the owner is out of
     *     range, or the server is a replica or refuses the credentials
     * @throws dev.holdfast.LockBackendException if the server cannot be reached in time
     */
    public LockManager open() {
      if (node == null) {
        throw new LockConfigurationException("there is no node: give one");
      }
      Settings settings =
          new Settings(
              new StampFormat(unit, floatingPoint),
              !checkedRelease,
              new KeyPrefix(keyPrefix),
              clockMargin,
              nodeTimeout,
              quorumTimeout,
              connectTimeout,
              clock);
      Scheduler own = scheduler == null ? Scheduler.create("holdfast-setnx-timer") : null;
      Scheduler timers = own == null ? Objects.requireNonNull(scheduler) : own;
      SetnxServer server = new SetnxServer(node, settings, timers);
      SetnxPrimitive primitive =
          new SetnxPrimitive(server, settings, own == null ? () -> {} : own::close);
      LockManager locks;
      try {
        LockManagerBuilder builder =
            LockManagerBuilder.over(primitive).clock(clock).scheduler(timers);
        manager.accept(builder);
        locks = builder.build();
      } catch (LockConfigurationException e) {
        primitive.close();
        throw e;
      }
      if (!lazy) {
        connect(server, locks);
      }
      return locks;
    }

    private static void connect(SetnxServer server, LockManager locks) {
      try {
        server.open().join();
      } catch (CompletionException e) {
        locks.close();
        throw e.getCause() instanceof LockException known ? known : e;
      }
    }

    private Builder with(Consumer<LockManagerBuilder> setting) {
      manager = manager.andThen(setting);
      return this;
    }

    private static Duration limited(String what, Duration duration) {
      if (duration.isZero() || duration.isNegative() || duration.compareTo(LONGEST) > 0) {
        throw new LockConfigurationException(what + ", " + duration + ", " + WRONG_LIMIT);
      }
      return duration;
    }
  }
}
