package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import dev.holdfast.core.Validity;
import dev.holdfast.spi.LockUrl;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How Redlock is run, whatever the driver. Immutable; every method that changes a part returns new
 * options. The part that a URL can set has the same names there.
 */
public final class RedlockOptions {
  /** The options that a URL may have; drivers add their own. */
  public static final Set<String> NAMES =
      Set.of(
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect",
          "retryDelay",
          "maxTtl",
          "drift",
          "keyPrefix",
          "owner",
          "fencing",
          "restartGuard",
          "newNodes",
          "cluster");

  /** The Redlock page: "if the auto-release time is 10 seconds, 5 to 50 milliseconds". */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  /** Long enough for a pause of a server or of this process, short enough to report an outage. */
  public static final Duration DEFAULT_QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /** Long enough for a TLS handshake across a continent, short enough for a start that fails. */
  public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(2);

  /** What other libraries allow for, too. */
  public static final double DEFAULT_DRIFT = Validity.DEFAULT_DRIFT;

  /** Of waits inside; drivers count milliseconds in an int. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final String WRONG_LONGEST =
      "is out of range: give more than zero, up to 365 days";

  /** A pause of a server (a fork, a slow disk) is mostly over by then. */
  private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(1);

  private static final String WRONG_LIMIT = "is out of range: give more than zero, up to 1h";

  private static final RedlockOptions DEFAULTS = new RedlockOptions(new Parts());

  private final Parts parts;
  private final Validity validity;

  private RedlockOptions(Parts parts) {
    this.parts = parts;
    this.validity = new Validity(parts.drift);
  }

  /**
   * What is used unless something else is said.
   *
   * @return the defaults
   */
  public static RedlockOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The options of a URL.
   *
   * @param url a URL, whose other options are not looked at
   * @return the options
   * @throws LockConfigurationException if a value is out of range
   */
  public static RedlockOptions from(LockUrl url) {
    RedlockOptions options =
        DEFAULTS
            .nodeTimeout(limited(url, "nodeTimeout", DEFAULT_NODE_TIMEOUT))
            .quorumTimeout(limited(url, "quorumTimeout", DEFAULT_QUORUM_TIMEOUT))
            .connectTimeout(limited(url, "connectTimeout", DEFAULT_CONNECT_TIMEOUT))
            .retryDelay(limited(url, "retryDelay", LockManagerBuilder.DEFAULT_RETRY_DELAY))
            .maxTtl(longest(url))
            .drift(url.percent("drift", DEFAULT_DRIFT))
            .keyPrefix(url.text("keyPrefix", ""))
            .fencing(url.flag("fencing", true))
            .cluster(url.text("cluster", ""));
    if (!url.text("restartGuard", "").isEmpty()) {
      options = options.restartGuard(url.flag("restartGuard", true));
    }
    options =
        switch (url.text("newNodes", "wait")) {
          case "wait" -> options;
          case "trust" -> options.trustNewNodes();
          default ->
              throw url.wrongOption(
                  "newNodes", "is neither: write newNodes=wait or newNodes=trust");
        };
    String owner = url.text("owner", "");
    options = owner.isEmpty() ? options : options.owner(owner);
    String connect = url.text("connect", "eager");
    return switch (connect) {
      case "eager" -> options;
      case "lazy" -> options.connectLazily();
      default ->
          throw url.wrongOption("connect", "is neither: write connect=eager or connect=lazy");
    };
  }

  /**
   * Sets how long a straggler is waited for, from the sending of a round, once a quorum of nodes
   * has answered: at least this, and as long again as the quorum took. So a minority that hangs
   * delays no call by more. Has no meaning with a single node.
   *
   * @param nodeTimeout above zero, at most an hour; default 50 ms
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions nodeTimeout(Duration nodeTimeout) {
    return with(p -> p.nodeTimeout = limited("nodeTimeout", nodeTimeout));
  }

  /**
   * Sets how long a quorum of nodes is waited for, from the start of each call, before the call
   * reports an outage. An attempt never waits beyond the validity that its grant would have. A node
   * that answers nothing for so long, and for at least a second, is disconnected.
   *
   * @param quorumTimeout above zero, at most an hour; default 1 s; where it is below {@code
   *     nodeTimeout}, {@code nodeTimeout} holds
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions quorumTimeout(Duration quorumTimeout) {
    return with(p -> p.quorumTimeout = limited("quorumTimeout", quorumTimeout));
  }

  /**
   * How long opening may take to reach a quorum, and how long one attempt to connect to a node may.
   *
   * @param connectTimeout above zero, at most an hour; default 2 s
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions connectTimeout(Duration connectTimeout) {
    return with(p -> p.connectTimeout = limited("connectTimeout", connectTimeout));
  }

  /**
   * The longest pause between two attempts of one who waits; each is drawn from its upper half.
   *
   * @param retryDelay above zero, at most an hour; default 200 ms
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions retryDelay(Duration retryDelay) {
    return with(p -> p.retryDelay = limited("retryDelay", retryDelay));
  }

  /**
   * The longest ttl that may be asked for.
   *
   * @param maxTtl above zero, at most 365 days; default 60 s
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions maxTtl(Duration maxTtl) {
    if (isBeyond(maxTtl)) {
      throw new LockConfigurationException("maxTtl, " + maxTtl + ", " + WRONG_LONGEST);
    }
    return with(p -> p.maxTtl = maxTtl);
  }

  /**
   * How far two machines' clocks may drift apart in a ttl. Validity is the ttl less this part of
   * it, less 2 ms.
   *
   * @param drift from 0 up to, but not including, 1; default 0.01
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions drift(double drift) {
    if (!(drift >= 0 && drift < 1)) {
      throw new LockConfigurationException("drift is " + drift * 100 + "%: give 0% to 99%");
    }
    return with(p -> p.drift = drift);
  }

  /**
   * What stands before the name of each lock in its key.
   *
   * @param keyPrefix default empty, as in other languages' Redlock clients
   * @return new options
   */
  public RedlockOptions keyPrefix(String keyPrefix) {
    Objects.requireNonNull(keyPrefix, "keyPrefix");
    return with(p -> p.keyPrefix = new KeyPrefix(keyPrefix));
  }

  /**
   * Whether every grant carries a fencing token. Without it, and without the restart guard, a lock
   * is taken by a plain {@code SET}, which servers without scripts understand.
   *
   * @param fencing default true
   * @return new options
   */
  public RedlockOptions fencing(boolean fencing) {
    return with(p -> p.fencing = fencing);
  }

  /**
   * Whether a node that came back without its data keeps out of votes until every lock that it may
   * have lost has expired.
   *
   * @param restartGuard default true with three nodes or more
   * @return new options
   */
  public RedlockOptions restartGuard(boolean restartGuard) {
    return with(p -> p.restartGuard = restartGuard);
  }

  /**
   * Lets new nodes vote at once, which otherwise wait for as long as locks can last: if all nodes
   * answer at the first connection of the manager, and all look new. Nodes that have all lost their
   * data look the same, so this is for tests and trials; each opening logs a warning. Without the
   * restart guard it has no meaning.
   *
   * @return new options
   */
  public RedlockOptions trustNewNodes() {
    return with(p -> p.trustingNewNodes = true);
  }

  /**
   * The name of these nodes as a whole. The restart guard refuses clients that give the same node
   * another name, another number of nodes or another longest ttl: their locks would not exclude one
   * another.
   *
   * @param cluster default empty
   * @return new options
   */
  public RedlockOptions cluster(String cluster) {
    Objects.requireNonNull(cluster, "cluster");
    return with(p -> p.cluster = cluster);
  }

  /**
   * The label of holders whose request has none.
   *
   * @param owner 1 to 256 bytes in UTF-8; default {@code host:pid}
   * @return new options
   */
  public RedlockOptions owner(String owner) {
    Objects.requireNonNull(owner, "owner");
    return with(p -> p.owner = owner);
  }

  /**
   * Connects when the first lock is asked for, not when the manager is opened.
   *
   * @return new options
   */
  public RedlockOptions connectLazily() {
    return with(p -> p.lazy = true);
  }

  /**
   * Where users' stages complete.
   *
   * @param callbacks default: daemon threads of the manager's own
   * @return new options
   */
  public RedlockOptions callbacks(Executor callbacks) {
    Objects.requireNonNull(callbacks, "callbacks");
    return with(p -> p.callbacks = callbacks);
  }

  /**
   * Where time comes from.
   *
   * @param clock default {@link Clock#system()}
   * @return new options
   */
  public RedlockOptions clock(Clock clock) {
    Objects.requireNonNull(clock, "clock");
    return with(p -> p.clock = clock);
  }

  /**
   * What runs timers. The manager does not close it.
   *
   * @param scheduler default: daemon threads of the manager's own
   * @return new options
   */
  public RedlockOptions scheduler(Scheduler scheduler) {
    Objects.requireNonNull(scheduler, "scheduler");
    return with(p -> p.scheduler = scheduler);
  }

  /**
   * What tokens and pauses are drawn from. For simulations alone: tokens that can be guessed
   * protect nothing.
   *
   * @param random safe for use by many threads; default {@link SecureRandom} for tokens
   * @return new options
   */
  public RedlockOptions random(RandomGenerator random) {
    Objects.requireNonNull(random, "random");
    return with(p -> p.random = random);
  }

  /**
   * Returns how long a straggler is waited for.
   *
   * @return above zero
   */
  public Duration nodeTimeout() {
    return parts.nodeTimeout;
  }

  /**
   * Returns how long a quorum of answers is waited for.
   *
   * @return not below {@link #nodeTimeout()}
   */
  public Duration quorumTimeout() {
    return parts.quorumTimeout.compareTo(parts.nodeTimeout) < 0
        ? parts.nodeTimeout
        : parts.quorumTimeout;
  }

  /**
   * Returns how long a node may answer nothing, while an answer is due, before its connection is
   * given up. No driver gives it up sooner by itself.
   *
   * @return {@link #quorumTimeout()}, but at least a second
   */
  public Duration silenceLimit() {
    return quorumTimeout().compareTo(SHORTEST_SILENCE) < 0 ? SHORTEST_SILENCE : quorumTimeout();
  }

  /**
   * How long connecting may take.
   *
   * @return above zero
   */
  public Duration connectTimeout() {
    return parts.connectTimeout;
  }

  Duration maxTtl() {
    return parts.maxTtl;
  }

  boolean isLazy() {
    return parts.lazy;
  }

  boolean isFencing() {
    return parts.fencing;
  }

  /** Empty if the number of nodes decides. */
  Optional<Boolean> restartGuard() {
    return Optional.ofNullable(parts.restartGuard);
  }

  boolean isTrustingNewNodes() {
    return parts.trustingNewNodes;
  }

  String cluster() {
    return parts.cluster;
  }

  KeyPrefix keyPrefix() {
    return parts.keyPrefix;
  }

  Clock clock() {
    return parts.clock;
  }

  RandomGenerator random() {
    return parts.random != null ? parts.random : new SecureRandom();
  }

  Optional<Scheduler> scheduler() {
    return Optional.ofNullable(parts.scheduler);
  }

  Validity validity() {
    return validity;
  }

  /** The manager's own part of the options. */
  LockManagerBuilder applyTo(LockManagerBuilder builder) {
    builder.clock(parts.clock).retryDelay(parts.retryDelay).maxTtl(parts.maxTtl);
    if (parts.random != null) {
      builder.random(parts.random);
    }
    if (parts.callbacks != null) {
      builder.callbacks(parts.callbacks);
    }
    if (parts.owner != null) {
      builder.owner(parts.owner);
    }
    return builder;
  }

  private RedlockOptions with(Consumer<Parts> change) {
    Parts changed = new Parts(parts);
    change.accept(changed);
    return new RedlockOptions(changed);
  }

  private static Duration limited(LockUrl url, String option, Duration otherwise) {
    Duration value = url.duration(option, otherwise);
    if (value.isZero() || value.compareTo(LONGEST) > 0) {
      throw url.wrongOption(option, WRONG_LIMIT);
    }
    return value;
  }

  private static Duration limited(String what, Duration duration) {
    if (duration.isZero() || duration.isNegative() || duration.compareTo(LONGEST) > 0) {
      throw new LockConfigurationException(what + ", " + duration + ", " + WRONG_LIMIT);
    }
    return duration;
  }

  private static Duration longest(LockUrl url) {
    Duration maxTtl = url.duration("maxTtl", LockManagerBuilder.DEFAULT_MAX_TTL);
    if (isBeyond(maxTtl)) {
      throw url.wrongOption("maxTtl", WRONG_LONGEST);
    }
    return maxTtl;
  }

  private static boolean isBeyond(Duration maxTtl) {
    return maxTtl.isZero()
        || maxTtl.isNegative()
        || maxTtl.compareTo(LockManagerBuilder.LONGEST_MAX_TTL) > 0;
  }

  /** Changed only while new options are made. */
  private static final class Parts {
    private Duration nodeTimeout = DEFAULT_NODE_TIMEOUT;
    private Duration quorumTimeout = DEFAULT_QUORUM_TIMEOUT;
    private Duration connectTimeout = DEFAULT_CONNECT_TIMEOUT;
    private Duration retryDelay = LockManagerBuilder.DEFAULT_RETRY_DELAY;
    private Duration maxTtl = LockManagerBuilder.DEFAULT_MAX_TTL;
    private double drift = DEFAULT_DRIFT;
    private KeyPrefix keyPrefix = new KeyPrefix("");
    private boolean fencing = true;
    private @Nullable Boolean restartGuard;
    private boolean trustingNewNodes;
    private String cluster = "";
    private boolean lazy;
    private Clock clock = Clock.system();
    private @Nullable RandomGenerator random;
    private @Nullable Scheduler scheduler;
    private @Nullable Executor callbacks;
    private @Nullable String owner;

    Parts() {}

    Parts(Parts other) {
      nodeTimeout = other.nodeTimeout;
      quorumTimeout = other.quorumTimeout;
      connectTimeout = other.connectTimeout;
      retryDelay = other.retryDelay;
      maxTtl = other.maxTtl;
      drift = other.drift;
      keyPrefix = other.keyPrefix;
      fencing = other.fencing;
      restartGuard = other.restartGuard;
      trustingNewNodes = other.trustingNewNodes;
      cluster = other.cluster;
      lazy = other.lazy;
      clock = other.clock;
      random = other.random;
      scheduler = other.scheduler;
      callbacks = other.callbacks;
      owner = other.owner;
    }
  }
}
