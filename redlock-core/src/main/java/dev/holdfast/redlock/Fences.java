package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Fencing tokens over independent nodes. Each node gives its own number; the largest of a quorum's
 * is the token. It is granted only once a quorum has stored it, so that every later quorum meets it
 * in one node, whose next number is larger.
 */
final class Fences {
  /** Numbers pass through Lua, whose numbers are doubles: from here on, one more is no more. */
  private static final long LARGEST = 1L << 53;

  /** A counter outlives its lock by so many of the longest ttl; by then all clocks are ahead. */
  private static final int MAX_TTLS = 10;

  private static final String KEY_PREFIX = "holdfast:fence:";

  private final boolean enabled;
  private final Clock clock;
  private final String lifeMillis;
  private final Seen seen = new Seen();

  Fences(RedlockOptions options) {
    this.enabled = options.isFencing();
    this.clock = options.clock();
    this.lifeMillis = Long.toString(Millis.of(options.maxTtl().multipliedBy(MAX_TTLS)));
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
      this.command =
          enabled
              ? eval(
                  Scripts.ACQUIRE,
                  Long.toString(ttlMillis),
                  Long.toString(clock.wallMicros()),
                  Long.toString(seen.last(key) + 1),
                  lifeMillis)
              : new Command.SetIfAbsent(key, token, ttlMillis);
    }

    Command command() {
      return command;
    }

    @Nullable Answer read(int node, @Nullable Object reply) {
      if (!enabled) {
        return reply == null ? Answer.OTHER : "OK".equals(reply) ? Answer.MINE : null;
      }
      if (!(reply instanceof Long fence) || fence < 0 || fence >= LARGEST) {
        return null;
      }
      synchronized (this) {
        given[node] = fence;
      }
      return fence == 0 ? Answer.OTHER : Answer.MINE;
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
      seen.add(key, highest);
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
      return eval(Scripts.FENCE, Long.toString(fence), lifeMillis);
    }

    private Command eval(Script script, String... arguments) {
      List<String> all = new ArrayList<>(1 + arguments.length);
      all.add(token);
      all.addAll(List.of(arguments));
      return new Command.Eval(script, false, List.of(key, KEY_PREFIX + key), all);
    }
  }

  /** What this manager was given last, so that it proposes more: a second trip less. */
  private static final class Seen {
    private static final int MOST = 10_000;

    private final Map<String, Long> byKey =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST;
          }
        };

    synchronized long last(String key) {
      return byKey.getOrDefault(key, 0L);
    }

    synchronized void add(String key, long fence) {
      byKey.merge(key, fence, Math::max);
    }
  }
}
