package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.Millis;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Fencing tokens over independent nodes. Each node proposes its own number, and the largest of a
 * quorum's numbers is the token. It is granted only once a quorum has stored it, so that every
 * later quorum has a node in common, whose next number is larger.
 */
final class FencingTokens {
  /** The first number too large: in Lua numbers are doubles, and from here on n + 1 may be n. */
  private static final long TOO_LARGE = 1L << 53;

  /** The life of a counter, in longest ttls. */
  private static final int LIFE_IN_MAX_TTLS = 10;

  /**
   * The shortest life of a counter: longer than the 10 s that nodes follow a client's clock. After
   * it any number is larger, however far the clock of the client is behind.
   */
  private static final Duration MIN_LIFE = Duration.ofSeconds(11);

  /** Maximum lag that is caught up with, half of the 10 s that nodes follow a client's clock. */
  private static final long MAX_CLOCK_LAG_MICROS = 5_000_000;

  private static final String KEY_PREFIX = "holdfast:fence:";

  private final boolean enabled;
  private final Clock clock;
  private final GuardTerms guard;
  private final String lifeMillis;
  private final AtomicLong clockLagMicros = new AtomicLong();

  FencingTokens(AlgorithmOptions options, GuardTerms guard) {
    this.enabled = options.isFencing();
    this.clock = options.clock();
    this.guard = guard;
    this.lifeMillis = Long.toString(lifeMillis(options));
  }

  /** Returns the life of a counter after the last grant, or the last hold, of its lock. */
  static long lifeMillis(AlgorithmOptions options) {
    Duration life = options.maxTtl().multipliedBy(LIFE_IN_MAX_TTLS);
    return Math.max(Millis.of(life), MIN_LIFE.toMillis());
  }

  /** Returns the key of a lock's counter. */
  static String counterOf(String key) {
    return KEY_PREFIX + key;
  }

  /**
   * Begins an attempt.
   *
   * @param transferred the token that is replaced, or null to take a free lock
   */
  TokenProposal propose(
      String key, String token, @Nullable String transferred, long ttlMillis, int nodes) {
    return new TokenProposal(key, token, transferred, ttlMillis, nodes);
  }

  /** The command of one attempt, and the numbers that the nodes proposed. */
  final class TokenProposal {
    private final String key;
    private final String token;
    private final boolean adopts;
    private final Command command;
    private final long[] proposed;

    private TokenProposal(
        String key, String token, @Nullable String transferred, long ttlMillis, int nodes) {
      this.key = key;
      this.token = token;
      this.adopts = transferred != null;
      this.proposed = new long[nodes];
      String millis = Long.toString(ttlMillis);
      this.command = transferred == null ? commandFor(millis) : commandFor(millis, transferred);
    }

    private Command commandFor(String ttlMillis, String transferred) {
      return enabled
          ? guard.command(
              Scripts.ADOPT,
              List.of(key, counterOf(key)),
              List.of(token, ttlMillis, wanted(), lifeMillis, transferred))
          : guard.command(Scripts.SWAP, List.of(key), List.of(token, ttlMillis, transferred));
    }

    /** Returns the number that this client proposes. */
    private String wanted() {
      return Long.toString(clock.wallMicros() + clockLagMicros.get());
    }

    private Command commandFor(String ttlMillis) {
      if (enabled) {
        return guard.command(
            Scripts.ACQUIRE,
            List.of(key, counterOf(key)),
            List.of(token, ttlMillis, wanted(), lifeMillis));
      }
      return guard.isOn()
          ? guard.command(Scripts.TAKE, List.of(key), List.of(token, ttlMillis))
          : new Command.SetIfAbsent(key, token, Long.parseLong(ttlMillis));
    }

    Command command() {
      return command;
    }

    /** Reads a reply to the command, and keeps the number that the node proposed. */
    @Nullable Vote read(int node, @Nullable Object reply) {
      if (!enabled) {
        return adopts ? Scripts.compared(node, reply) : readTaken(reply);
      }
      if (adopts && Objects.equals(reply, Scripts.MISSING)) {
        return Vote.MISSING;
      }
      if (!(reply instanceof Long number) || number < 0 || number >= TOO_LARGE) {
        return null;
      }
      synchronized (this) {
        proposed[node] = number;
      }
      adjustClockLag(number);
      return number == 0 ? Vote.OTHER : Vote.MINE;
    }

    /**
     * Reads a reply to {@link #store}. A node that did not grant does not count here either: it may
     * have set the key for us while it was in quarantine, which the script that stores ignores. Nor
     * is it a node that refuses.
     */
    @Nullable Vote readStored(int node, @Nullable Object reply) {
      Vote vote = Scripts.compared(node, reply);
      synchronized (this) {
        return vote == Vote.MINE && proposed[node] == 0 ? null : vote;
      }
    }

    private @Nullable Vote readTaken(@Nullable Object reply) {
      if (Objects.equals(reply, guard.isOn() ? 1L : "OK")) {
        return Vote.MINE;
      }
      return Objects.equals(reply, guard.isOn() ? 0L : null) ? Vote.OTHER : null;
    }

    /** Returns the largest number of the nodes that granted, or empty without fencing. */
    synchronized OptionalLong highest(Tally votes) {
      if (!enabled) {
        return OptionalLong.empty();
      }
      long highest = 0;
      for (int node = 0; node < proposed.length; node++) {
        highest = votes.mine().contains(node) ? Math.max(highest, proposed[node]) : highest;
      }
      return OptionalLong.of(highest);
    }

    /** Tells whether a quorum has stored a token already. */
    synchronized boolean isStored(Tally votes, OptionalLong fencingToken) {
      NodeSet storing = votes.mine().filter(node -> proposed[node] == fencingToken.orElse(0));
      return storing.size() >= votes.quorum();
    }

    /** Returns the command that stores a token where the lock is ours. */
    Command store(long fencingToken) {
      return new Command.Eval(
          Scripts.FENCE,
          false,
          List.of(key, counterOf(key)),
          List.of(token, Long.toString(fencingToken), lifeMillis));
    }
  }

  /**
   * Adjusts the clock lag to a number that is ahead of our clock, because another client's clock
   * is. From then on this client proposes numbers like that client. Then all nodes propose the same
   * number, also those that proposed one to a failed attempt of either client, which saves a second
   * trip.
   */
  private void adjustClockLag(long number) {
    long lag = number - clock.wallMicros();
    if (lag > clockLagMicros.get() && lag <= MAX_CLOCK_LAG_MICROS) {
      clockLagMicros.accumulateAndGet(lag, Math::max);
    }
  }
}
