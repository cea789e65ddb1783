package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.core.DurationRange;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.ManagerSettings;
import dev.holdfast.core.Validity;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.spi.LockUrl;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * The options of the Redlock algorithm, for every driver. Immutable: each method that changes an
 * option returns new options. The options of a URL have the same names.
 */
public final class RedlockOptions implements ManagerSettings<RedlockOptions> {
  /** The names of the options that a URL may have. Drivers add their own. */
  public static final Set<String> NAMES =
      ManagerOptions.namesAnd(
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect",
          "drift",
          "keyPrefix",
          "fencing",
          "restartGuard",
          "newNodes",
          "cluster");

  /**
   * The default straggler timeout. The Redlock page says: "if the auto-release time is 10 seconds,
   * 5 to 50 milliseconds".
   */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  /**
   * The default time for a quorum: long enough for a pause of a server or of this process, short
   * enough to report an outage.
   */
  public static final Duration DEFAULT_QUORUM_TIMEOUT = Duration.ofSeconds(1);

  /**
   * The default time to connect: long enough for a TLS handshake across a continent, short enough
   * for a start that fails.
   */
  public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(2);

  /** The default allowance for drift, which other libraries have, too. */
  public static final double DEFAULT_DRIFT = Validity.DEFAULT_DRIFT;

  /** Minimum silence that counts. Most pauses of a server (a fork, a slow disk) are shorter. */
  private static final Duration MIN_SILENCE = Duration.ofSeconds(1);

  private static final RedlockOptions DEFAULTS = new RedlockOptions(new OptionValues());

  private final OptionValues values;

  private RedlockOptions(OptionValues values) {
    this.values = values;
  }

  /**
   * Returns the defaults.
   *
   * @return the defaults
   */
  public static RedlockOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Reads the options of a URL.
   *
   * @param url a URL, whose other options are ignored
   * @return the options
   * @throws LockConfigurationException if a value is out of range
   */
  public static RedlockOptions from(LockUrl url) {
    return UrlOptions.read(url);
  }

  /**
   * Sets how long a straggler is waited for, from the sending of a round, once a quorum of nodes
   * has answered: this time, or twice the time that the quorum took, if that is longer. A minority
   * that hangs delays no call by more. With a single node the option has no effect.
   *
   * @param nodeTimeout above zero, at most an hour, by default 50 ms
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions nodeTimeout(Duration nodeTimeout) {
    return with(v -> v.nodeTimeout = DurationRange.TIMEOUT.require("nodeTimeout", nodeTimeout));
  }

  /**
   * Sets how long a quorum of nodes is waited for, from the start of each call, before the call
   * reports an outage. An attempt never waits beyond the validity that its grant would have. A node
   * that is silent for this time, and for at least a second, is disconnected.
   *
   * @param quorumTimeout above zero, at most an hour, by default 1 s. Below {@code nodeTimeout},
   *     {@code nodeTimeout} holds
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions quorumTimeout(Duration quorumTimeout) {
    return with(
        v -> v.quorumTimeout = DurationRange.TIMEOUT.require("quorumTimeout", quorumTimeout));
  }

  /**
   * Sets how long opening may take to reach a quorum, and how long connecting to one node may take.
   *
   * @param connectTimeout above zero, at most an hour, by default 2 s
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions connectTimeout(Duration connectTimeout) {
    return with(
        v -> v.connectTimeout = DurationRange.TIMEOUT.require("connectTimeout", connectTimeout));
  }

  /**
   * Sets how far the clocks of two machines may drift apart during a ttl. Validity is the ttl less
   * this part of it, less 2 ms.
   *
   * @param drift from 0 up to, but not including, 1, by default 0.01
   * @return new options
   * @throws dev.holdfast.LockConfigurationException if it is out of range
   */
  public RedlockOptions drift(double drift) {
    if (!(drift >= 0 && drift < 1)) {
      throw new LockConfigurationException("drift is " + drift * 100 + "%: give 0% to 99%");
    }
    return with(v -> v.drift = drift);
  }

  /**
   * Sets the prefix of each lock's key, before its name.
   *
   * @param keyPrefix default empty, as in other languages' Redlock clients
   * @return new options
   */
  public RedlockOptions keyPrefix(String keyPrefix) {
    Objects.requireNonNull(keyPrefix, "keyPrefix");
    return with(v -> v.keyPrefix = new KeyPrefix(keyPrefix));
  }

  /**
   * Sets whether every grant carries a fencing token. Without fencing and restart guard, a lock is
   * taken by a plain {@code SET}, which servers without scripts understand.
   *
   * @param fencing default true
   * @return new options
   */
  public RedlockOptions fencing(boolean fencing) {
    return with(v -> v.fencing = fencing);
  }

  /**
   * Sets whether a node that came back without its data does not vote until every lock that it may
   * have lost has expired.
   *
   * @param restartGuard default true with three nodes or more
   * @return new options
   */
  public RedlockOptions restartGuard(boolean restartGuard) {
    return with(v -> v.restartGuard = restartGuard);
  }

  /**
   * Lets new nodes vote at once, if all nodes answer at the first connection of the manager and all
   * look new. Otherwise new nodes wait for as long as locks can last. Nodes that have all lost
   * their data look the same, so this is for tests and trials. Each opening logs a warning. Without
   * the restart guard the option has no effect.
   *
   * @return new options
   */
  public RedlockOptions trustNewNodes() {
    return with(v -> v.trustingNewNodes = true);
  }

  /**
   * Sets the name of these nodes as a whole. The restart guard refuses clients that give the same
   * node another name, another number of nodes or another longest ttl, because their locks would
   * not exclude each other.
   *
   * @param cluster default empty
   * @return new options
   */
  public RedlockOptions cluster(String cluster) {
    Objects.requireNonNull(cluster, "cluster");
    return with(v -> v.cluster = cluster);
  }

  /**
   * Connects at the first request for a lock, not when the manager is opened.
   *
   * @return new options
   */
  public RedlockOptions connectLazily() {
    return with(v -> v.lazy = true);
  }

  /**
   * Sets the source of tokens and pauses. Only for simulations: tokens that can be guessed protect
   * nothing.
   *
   * @param random safe for use by many threads, by default {@link SecureRandom} for tokens
   * @return new options
   */
  @Override
  public RedlockOptions random(RandomGenerator random) {
    return managerOptions(options -> options.random(random));
  }

  @Override
  public RedlockOptions managerOptions(UnaryOperator<ManagerOptions> change) {
    return with(v -> v.manager = change.apply(v.manager));
  }

  /**
   * Returns how long a straggler is waited for.
   *
   * @return above zero
   */
  public Duration nodeTimeout() {
    return values.nodeTimeout;
  }

  /**
   * Returns how long a quorum of answers is waited for.
   *
   * @return not below {@link #nodeTimeout()}
   */
  public Duration quorumTimeout() {
    return values.quorumTimeout.compareTo(values.nodeTimeout) < 0
        ? values.nodeTimeout
        : values.quorumTimeout;
  }

  /**
   * Returns how long a node may be silent, while an answer is due, before its connection is given
   * up. No driver gives it up sooner by itself.
   *
   * @return {@link #quorumTimeout()}, but at least a second
   */
  public Duration silenceLimit() {
    return quorumTimeout().compareTo(MIN_SILENCE) < 0 ? MIN_SILENCE : quorumTimeout();
  }

  /**
   * Returns how long connecting may take.
   *
   * @return above zero
   */
  public Duration connectTimeout() {
    return values.connectTimeout;
  }

  /** Returns the values for the algorithm. */
  AlgorithmOptions forAlgorithm() {
    return new AlgorithmOptions(
        values.manager,
        nodeTimeout(),
        quorumTimeout(),
        silenceLimit(),
        connectTimeout(),
        new Validity(values.drift),
        values.keyPrefix,
        values.fencing,
        Optional.ofNullable(values.restartGuard),
        values.trustingNewNodes,
        values.cluster,
        values.lazy);
  }

  private RedlockOptions with(Consumer<OptionValues> change) {
    OptionValues changed = new OptionValues(values);
    change.accept(changed);
    return new RedlockOptions(changed);
  }
}
