package dev.holdfast.legacy.setnx;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.core.DurationRange;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.ManagerSettings;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redis.RedisNodeUri;
import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Opens lock managers over the old pattern: a time stamp as value, SETNX and GETSET to acquire a
 * lock, DEL to release it. For fleets that run it already. New fleets use Redlock.
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
  /** The prefix on the SETNX command's page. */
  public static final String DEFAULT_KEY_PREFIX = "lock.";

  /** Many times the difference between clocks that NTP sets. */
  public static final Duration DEFAULT_CLOCK_MARGIN = Duration.ofMillis(250);

  /** The same default as Redlock's. */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  /** The same default as Redlock's. */
  public static final Duration DEFAULT_QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /** The same default as Redlock's. */
  public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(2);

  private static final Duration LONGEST_CLOCK_MARGIN = Duration.ofHours(1);

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

  /**
   * The settings of a manager. Stamps are written and compared by the wall clock of its clock, and
   * have no room for an owner label. Not safe for use by many threads.
   */
  public static final class Builder implements ManagerSettings<Builder> {
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
    private ManagerOptions options = ManagerOptions.defaults();

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
      return node(Address.of(uri));
    }

    Builder node(RedisNodeUri node) {
      return node(Address.of(node));
    }

    private Builder node(Address given) {
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
     * @param checkedRelease true by default. With false a release always deletes the key, so that a
     *     late release deletes the next owner's lock.
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
     * Sets the time that a stamp must have left to be extended: the largest difference between the
     * clocks. Only a migration extends stamps.
     *
     * @param clockMargin zero to an hour, 250 ms by default
     * @return this
     */
    public Builder clockMargin(Duration clockMargin) {
      if (clockMargin.isNegative() || clockMargin.compareTo(LONGEST_CLOCK_MARGIN) > 0) {
        throw new LockConfigurationException(
            "clockMargin, " + clockMargin + ", is out of range: give 0s to 1h");
      }
      this.clockMargin = clockMargin;
      return this;
    }

    /**
     * Sets how long an attempt may go unanswered before the waiters behind it in the wait queue
     * report an outage, instead of contention, when their wait ends.
     *
     * @param nodeTimeout above zero, at most an hour, 50 ms by default
     * @return this
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = DurationRange.TIMEOUT.require("nodeTimeout", nodeTimeout);
      return this;
    }

    /**
     * Sets how long an operation may take. An attempt never waits beyond the validity that its
     * grant would have.
     *
     * @param quorumTimeout above zero, at most an hour, 1 s by default. If it is below {@code
     *     nodeTimeout}, {@code nodeTimeout} is used.
     * @return this
     */
    public Builder quorumTimeout(Duration quorumTimeout) {
      this.quorumTimeout = DurationRange.TIMEOUT.require("quorumTimeout", quorumTimeout);
      return this;
    }

    /**
     * Sets how long connecting may take.
     *
     * @param connectTimeout above zero, at most an hour, 2 s by default
     * @return this
     */
    public Builder connectTimeout(Duration connectTimeout) {
      this.connectTimeout = DurationRange.TIMEOUT.require("connectTimeout", connectTimeout);
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

    @Override
    public Builder managerOptions(UnaryOperator<ManagerOptions> change) {
      options = change.apply(options);
      return this;
    }

    /**
     * Opens the manager. Connects, unless {@link #connectLazily} was said. A clock that is wrong by
     * more than a second against the server's is warned of.
     *
     * @return a new manager, to be closed by the caller
     * @throws LockConfigurationException if there is no node, or the server is a replica or refuses
     *     the credentials
     * @throws dev.holdfast.LockOutageException if the server cannot be reached in time
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
              options.clock());
      Scheduler timers =
          options.scheduler().orElseGet(() -> Scheduler.create("holdfast-setnx-timer"));
      SetnxServer server = new SetnxServer(node, settings, timers);
      SetnxPrimitive primitive =
          new SetnxPrimitive(
              server, settings, options.scheduler().isPresent() ? () -> {} : timers::close);
      LockManager locks = LockManagerBuilder.over(primitive, options).scheduler(timers).build();
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
  }
}
