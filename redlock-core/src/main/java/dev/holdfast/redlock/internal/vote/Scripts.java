package dev.holdfast.redlock.internal.vote;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Script;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The Lua scripts. None has a {@code #!lua} header: with one, and without {@code allow-oom}, Redis
 * 7 refuses to run a script when memory is full, and a release must not be refused.
 */
public final class Scripts {
  /** The reply if the key held another token. */
  public static final long OTHER = 0;

  /** The reply if the key held our token. */
  public static final long MINE = 1;

  /** The reply if the key was not there. */
  public static final long MISSING = 2;

  /** The reply of {@link #RELEASE} if the key held our token, and the user may not publish. */
  public static final long MINE_UNPUBLISHED = 3;

  /** Maximum number of receivers that is counted, so that nonsense is not taken for a reply. */
  static final long MAX_RECEIVERS = 96;

  /**
   * Releases a lock: compares and deletes atomically. KEYS: the lock. ARGV: our token, the
   * notification, if there is one. A user who may not publish may release anyway. {@link
   * #receivers} and {@link #isPublishRefused} read the rest of the reply.
   */
  public static final Script RELEASE =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then return 2 end
          if value ~= ARGV[1] then return 0 end
          redis.call('DEL', KEYS[1])
          if ARGV[2] then
            local receivers = redis.pcall('PUBLISH', 'holdfast:released:' .. KEYS[1], ARGV[2])
            if not tonumber(receivers) then return 3 end
            if receivers > 0 then return 3 + math.min(receivers, 96) end
          end
          return 1
          """);

  /**
   * Releases a lock that keeps other owners out for a while: compares, and sets the life that the
   * key has left, atomically. KEYS: the lock, and its counter if it has one. ARGV: our token, the
   * life of the lock in milliseconds, 1 if that may be longer than before, the shortest life of the
   * counter in milliseconds. The counter outlives the lock, so that the fencing token of the next
   * grant is larger whatever the clocks show.
   */
  public static final Script KEEP =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then return 2 end
          if value ~= ARGV[1] then return 0 end
          local longer = ARGV[3] == '1'
          local left = redis.call('PTTL', KEYS[1])
          if longer or left > tonumber(ARGV[2]) then
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
          end
          if longer and KEYS[2] and redis.call('PTTL', KEYS[2]) < tonumber(ARGV[4]) then
            redis.call('PEXPIRE', KEYS[2], ARGV[4])
          end
          return 1
          """);

  /** Does nothing. It shows whether scripts may be run. */
  public static final Script NOTHING = Script.of("return 1");

  /**
   * Proposes a fencing token and stores it as the counter, after {@code last} was read. ARGV: see
   * {@link #ACQUIRE}.
   */
  private static final String PROPOSE =
      """
      local clock = redis.call('TIME')
      local here = clock[1] * 1000000 + clock[2]
      local wanted = tonumber(ARGV[3])
      code = math.max(last + 1, here - 10000000, math.min(wanted, here + 10000000))
      local life = ARGV[4]
      if code > here then life = life + math.ceil((code - here) / 1000) end
      redis.call('SET', KEYS[2], code == wanted and ARGV[3] or code, 'PX', life)
      """;

  /**
   * Takes a lock with a fencing token. KEYS: the lock, its counter. ARGV: our token, the ttl in
   * milliseconds, the client's time in microseconds, the shortest life of the counter in
   * milliseconds. Replies with the number that this node proposes, or 0 if the lock is held.
   *
   * <p>A client's clock that is far from the node's is not followed: a clock ahead would exhaust
   * the numbers, and a clock behind would fall below counters that have expired. A counter that is
   * ahead of time lives until time has caught up.
   *
   * <p>Without keys the script takes nothing, so that a node that was just connected can be taught
   * the source. An attempt that had to send the source would come late there. The proposed number
   * is converted to a text only if it is not the client's, because a conversion takes as long as a
   * GET.
   */
  public static final GuardedScript ACQUIRE =
      GuardedScript.of(
          """
          local code = 1
          if #KEYS > 1 then
            local last = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
            code = 0
            if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
          """
              + PROPOSE
              + """
            end
          end
          """);

  /**
   * Adopts a transferred lock: replaces its token with a fencing token. KEYS and ARGV: as for
   * {@link #ACQUIRE}, and the transferred token. Replies with the number that this node proposes,
   * with {@link #OTHER} or with {@link #MISSING}. A number is far above these, because it follows
   * the clock. The ttl may shorten the key: no holder counts on its longer life any more, and
   * others wait for an adopter that dies no longer than its ttl.
   */
  public static final GuardedScript ADOPT =
      GuardedScript.of(
          """
          local code = 2
          local last = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
          local value = redis.call('GET', KEYS[1])
          if value == ARGV[5] then
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
          """
              + PROPOSE
              + """
          elseif value then
            code = 0
          end
          """);

  /**
   * Adopts a transferred lock without a fencing token. KEYS: the lock. ARGV: our token, the ttl,
   * the transferred token.
   */
  public static final GuardedScript SWAP =
      GuardedScript.of(
          """
          local code = 2
          local value = redis.call('GET', KEYS[1])
          if value == ARGV[3] then
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
            code = 1
          elseif value then
            code = 0
          end
          """);

  /** Takes a lock without a fencing token. KEYS: the lock. ARGV: our token, the ttl. */
  public static final GuardedScript TAKE =
      GuardedScript.of(
          """
          local code = 1
          if #KEYS > 1 and not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
            code = 0
          end
          """);

  /**
   * Stores the fencing token. KEYS: the lock, its counter. ARGV: our token, the fencing token, the
   * shortest life of the counter in milliseconds. Writes only where the lock is still ours: an
   * unconditional write would set a later owner's counter back, or come after it.
   */
  public static final Script FENCE =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then return 2 end
          if value ~= ARGV[1] then return 0 end
          local fence = tonumber(ARGV[2])
          if (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) < fence then
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local life = ARGV[3] + math.ceil(math.max(0, fence - now) / 1000)
            redis.call('SET', KEYS[2], fence, 'PX', life)
          end
          return 1
          """);

  /**
   * Extends a lock. KEYS: the lock. ARGV: our token, the new ttl in milliseconds. Never shortens
   * the ttl: a key shortened by a request whose reply is lost would let a second owner in. A
   * missing key (its node restarted) is put back, but that is no vote: it counts from the next
   * round on. With a ttl of 0 no key is touched, so that a node can be taught the source.
   */
  public static final GuardedScript EXTEND =
      GuardedScript.of(
          """
          local code = 0
          if ARGV[2] ~= '0' then
            code = 1
            local value = redis.call('GET', KEYS[1])
            if not value then
              redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
              code = 2
            elseif value ~= ARGV[1] then
              code = 0
            elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
              redis.call('PEXPIRE', KEYS[1], ARGV[2])
            end
          end
          """);

  /**
   * Extends a lock before it is transferred. KEYS and ARGV: as for {@link #EXTEND}. Puts no missing
   * key back: it would serve a second adoption if this command came late.
   */
  public static final GuardedScript PROLONG =
      GuardedScript.of(
          """
          local code = 2
          local value = redis.call('GET', KEYS[1])
          if value == ARGV[1] then
            code = 1
            if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
              redis.call('PEXPIRE', KEYS[1], ARGV[2])
            end
          elseif value then
            code = 0
          end
          """);

  /**
   * Ends a quarantine. ARGV: the quarantine to end. It is ended only if it is the present one: then
   * the node has had its data since it began, and the terms of the client that ends it are those of
   * all clients that vote there. Replies with 1 if the quarantine is over for clients of these
   * terms, even if another client ended it.
   */
  public static final Script END =
      GuardedScript.about(
          """
          local code = 0
          if since > 0 then
            if ARGV[1] == string.format('%.0f', since) then
              redis.call('HSET', guard, 'terms', terms, 'longest', ARGV[at + 3], 'since', 0,
                'new', '0', 'begun', ARGV[1])
              code = 1
            end
          elseif seen[2] then
            local last = redis.call('HMGET', guard, 'begun')
            if last[1] == ARGV[1] then code = 1 end
          end
          return code
          """);

  /**
   * Inspects a lock. KEYS: the lock. Replies with its type, its value ('' unless it is a string)
   * and its PTTL.
   */
  public static final Script INSPECT =
      Script.of(
          """
          local kind = redis.call('TYPE', KEYS[1]).ok
          local value = ''
          if kind == 'string' then value = redis.call('GET', KEYS[1]) end
          return {kind, value, redis.call('PTTL', KEYS[1])}
          """);

  /** Deletes a lock, even another owner's, but no key of another type. KEYS: the lock. */
  public static final Script REMOVE =
      Script.of(
          """
          local kind = redis.call('TYPE', KEYS[1]).ok
          if kind == 'none' then return 2 end
          if kind ~= 'string' then return redis.error_reply('WRONGTYPE it is no lock') end
          redis.call('DEL', KEYS[1])
          return 1
          """);

  private Scripts() {}

  /** Reads the reply of a script that compares, such as {@link #RELEASE} or {@link #EXTEND}. */
  public static @Nullable Vote compared(int node, @Nullable Object reply) {
    if (!(reply instanceof Long code)) {
      return null;
    }
    if (code == MINE || (code >= MINE_UNPUBLISHED && code <= MINE_UNPUBLISHED + MAX_RECEIVERS)) {
      return Vote.MINE;
    }
    if (code == OTHER) {
      return Vote.OTHER;
    }
    return code == MISSING ? Vote.MISSING : null;
  }

  /** Tells whether the reply to {@link #RELEASE} says that the user may not publish. */
  public static boolean isPublishRefused(@Nullable Object reply) {
    return Objects.equals(reply, MINE_UNPUBLISHED);
  }

  /** Returns how many subscribers got the notification, by the reply to {@link #RELEASE}. */
  public static int receivers(@Nullable Object reply) {
    return reply instanceof Long code && code > MINE_UNPUBLISHED
        ? (int) (code - MINE_UNPUBLISHED)
        : 0;
  }

  /** Tells whether a command ends a quarantine. */
  public static boolean isEnd(Command command) {
    return command instanceof Command.Eval eval && END.equals(eval.script());
  }

  /** Tells whether a command takes a lock, free or transferred. */
  public static boolean isAcquire(Command command) {
    return command instanceof Command.SetIfAbsent
        || (command instanceof Command.Eval eval
            && (ACQUIRE.is(eval.script())
                || TAKE.is(eval.script())
                || ADOPT.is(eval.script())
                || SWAP.is(eval.script())));
  }
}
