package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Fencing tokens over independent nodes. Each node gives its own number; the largest of a quorum's
 * is the token. It is granted only once a quorum has stored it, so that every later quorum meets it
 * in one node, whose next number is larger.
 */
final class Fences {
  /** Numbers pass through Lua, whose numbers are doubles: from here on, one more is no more. */
  private static final long LARGEST = 1L << 53;

  /** A counter outlives its lock by so many of the longest ttl. */
  private static final int MAX_TTLS = 10;

  /**
   * More than what nodes follow: after this any number is larger, however far behind the clock of
   * who asks.
   */
  private static final Duration SHORTEST_LIFE = Duration.ofSeconds(11);

  /** Half of what nodes follow: whose clock is further ahead is not caught up with. */
  private static final long MOST_BEHIND_MICROS = 5_000_000;

  private static final String KEY_PREFIX = "holdfast:fence:";

  private final boolean enabled;
  private final Clock clock;
  private final Guard guard;
  private final String lifeMillis;
  private final AtomicLong behindMicros = new AtomicLong();

  Fences(RedlockOptions options, Guard guard) {
    this.enabled = options.isFencing();
    this.clock = options.clock();
    this.guard = guard;
    Duration life = options.maxTtl().multipliedBy(MAX_TTLS);
    this.lifeMillis = Long.toString(Math.max(Millis.of(life), SHORTEST_LIFE.toMillis()));
  }

  /** Begins an attempt. */
  Proposal propose(String key, String token, long ttlMillis, int nodes) {
    return new Proposal(key, token, ttlMillis, nodes);
  }

  /** What one attempt asks, and the numbers that nodes gave it. */
  final class Proposal {
    private final String key;
    private final String token;
    private final Command command;
    private final long[] given;

    private Proposal(String key, String token, long ttlMillis, int nodes) {
      this.key = key;
      this.token = token;
      this.given = new long[nodes];
      this.command = commandFor(Long.toString(ttlMillis));
    }

    private Command commandFor(String ttlMillis) {
      if (enabled) {
        return guard.command(
            Scripts.ACQUIRE,
            List.of(key, KEY_PREFIX + key),
            List.of(
                token,
                ttlMillis,
                Long.toString(clock.wallMicros() + behindMicros.get()),
                lifeMillis));
      }
      return guard.isOn()
          ? guard.command(Scripts.TAKE, List.of(key), List.of(token, ttlMillis))
          : new Command.SetIfAbsent(key, token, Long.parseLong(ttlMillis));
    }

    Command command() {
      return command;
    }

    @Nullable Answer read(int node, @Nullable Object reply) {
      if (!enabled) {
        return taken(reply);
      }
      if (!(reply instanceof Long fence) || fence < 0 || fence >= LARGEST) {
        return null;
      }
      synchronized (this) {
        given[node] = fence;
      }
      learn(fence);
      return fence == 0 ? Answer.OTHER : Answer.MINE;
    }

    /**
     * A node that did not grant counts no more now: it may have got the lock from us while it was
     * under quarantine, which the script that stores does not look at. Nor is it one that refuses.
     */
    @Nullable Answer readStored(int node, @Nullable Object reply) {
      Answer answer = Scripts.compared(node, reply);
      synchronized (this) {
        return answer == Answer.MINE && given[node] == 0 ? null : answer;
      }
    }

    private @Nullable Answer taken(@Nullable Object reply) {
      if (Objects.equals(reply, guard.isOn() ? 1L : "OK")) {
        return Answer.MINE;
      }
      return Objects.equals(reply, guard.isOn() ? 0L : null) ? Answer.OTHER : null;
    }

    /** The largest number of those who granted; empty without fencing. */
    synchronized OptionalLong highest(Tally votes) {
      long highest = 0;
      for (int node = 0; node < given.length; node++) {
        if ((votes.mine() & 1L << node) != 0) {
          highest = Math.max(highest, given[node]);
        }
      }
      if (!enabled) {
        return OptionalLong.empty();
      }
      return OptionalLong.of(highest);
    }

    /** Whether a quorum has it already. */
    synchronized boolean isStored(Tally votes, OptionalLong fence) {
      int storing = 0;
      for (int node = 0; node < given.length; node++) {
        boolean granted = (votes.mine() & 1L << node) != 0;
        storing += granted && given[node] == fence.orElse(0) ? 1 : 0;
      }
      return storing >= votes.quorum();
    }

    /** Stores it wherever the lock is ours. */
    Command store(long fence) {
      return new Command.Eval(
          Scripts.FENCE,
          false,
          List.of(key, KEY_PREFIX + key),
          List.of(token, Long.toString(fence), lifeMillis));
    }
  }

  /**
   * A number that is ahead of our clock tells that another client's clock is. What we propose from
   * then on is what that client would, so that all nodes, whichever gave a number to a failed
   * attempt of either, give the same: a second trip less.
   */
  private void learn(long fence) {
    long behind = fence - clock.wallMicros();
    if (behind > behindMicros.get() && behind <= MOST_BEHIND_MICROS) {
      behindMicros.accumulateAndGet(behind, Math::max);
    }
  }
}
