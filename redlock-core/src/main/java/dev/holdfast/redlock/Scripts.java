package dev.holdfast.redlock;

import org.jspecify.annotations.Nullable;

/**
 * The scripts. None has a {@code #!lua} header: with one, and without {@code allow-oom}, Redis 7
 * refuses to run it when memory is full, and a release must not be refused.
 */
final class Scripts {
  /** A reply of {@link #RELEASE} and {@link #EXTEND}. */
  static final long OTHER = 0;

  /** The key held our token. */
  static final long MINE = 1;

  /** The key was not there. */
  static final long MISSING = 2;

  /** A reply of {@link #RELEASE}: the key held our token, and nothing may be published. */
  static final long MINE_AND_MUTE = 3;

  /** No more listeners than these are counted, so that no reply that is nonsense passes. */
  static final long MOST_LISTENERS = 96;

  /**
   * KEYS: the lock. ARGV: our token, for how many milliseconds to keep others out (0: delete), what
   * to tell those who wait, if anything. Compares and deletes as one. A user who may not publish
   * may release all the same. A reply above {@link #MINE_AND_MUTE} says how many listened.
   */
  static final Script RELEASE =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then return 2 end
          if value ~= ARGV[1] then return 0 end
          if ARGV[2] == '0' then
            redis.call('DEL', KEYS[1])
            if ARGV[3] then
              local heard = redis.pcall('PUBLISH', 'holdfast:released:' .. KEYS[1], ARGV[3])
              if not tonumber(heard) then return 3 end
              if heard > 0 then return 3 + math.min(heard, 96) end
            end
          elseif redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
          end
          return 1
          """);

  /** Shows whether scripts may be run. */
  static final Script NOTHING = Script.of("return 1");

  /**
   * KEYS: the lock, its counter. ARGV: our token, the ttl in milliseconds, the client's time in
   * microseconds, how many milliseconds the counter lives at least. Replies with the fencing token
   * that this node gives, or 0 if the lock is held. A clock that is far from the node's is not
   * followed: one ahead would exhaust the numbers, and one behind would fall below counters that
   * have gone. A counter that is ahead of time lives until time has caught up. Without keys it
   * takes nothing, so that a node that was just connected can be told its source: an attempt that
   * had to would come late there. Where a word says it, no number is made a text: that takes as
   * long as to get a key.
   */
  static final Vote ACQUIRE =
      Vote.of(
          """
          local code = 1
          if #KEYS > 1 then
            local last = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
            code = 0
            if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
              local clock = redis.call('TIME')
              local here = clock[1] * 1000000 + clock[2]
              local wanted = tonumber(ARGV[3])
              code = math.max(last + 1, here - 10000000, math.min(wanted, here + 10000000))
              local life = ARGV[4]
              if code > here then life = life + math.ceil((code - here) / 1000) end
              redis.call('SET', KEYS[2], code == wanted and ARGV[3] or code, 'PX', life)
            end
          end
          """);

  /** As {@link #ACQUIRE}, without a fencing token. KEYS: the lock. ARGV: our token, the ttl. */
  static final Vote TAKE =
      Vote.of(
          """
          local code = 1
          if #KEYS > 1 and not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
            code = 0
          end
          """);

  /**
   * KEYS: the lock, its counter. ARGV: our token, the fencing token that was agreed on, how many
   * milliseconds the counter lives at least. Writes it where the lock is still ours: a write that
   * does not look would set a later owner's counter back, or come after it.
   */
  static final Script FENCE =
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
   * KEYS: the lock. ARGV: our token, the new ttl in milliseconds. Never shortens: a key shortened
   * by a request whose reply is lost would let a second owner in. A key that is gone (its node
   * restarted) is put back, but that is no vote: it counts from the next round on. A ttl of 0 looks
   * at no key, so that a node can be told the source.
   */
  static final Vote EXTEND =
      Vote.of(
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
   * ARGV: the quarantine to end. It is ended only if it is the present one: then the node has had
   * its data since it began, and the terms of who ends it are those of all who vote there. Replies
   * with 1 if it is over for clients of these terms, whoever of them ended it.
   */
  static final Script END =
      Vote.about(
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

  /** KEYS: the lock. Replies with its type, its value ('' unless it is a string) and its PTTL. */
  static final Script INSPECT =
      Script.of(
          """
          local kind = redis.call('TYPE', KEYS[1]).ok
          local value = ''
          if kind == 'string' then value = redis.call('GET', KEYS[1]) end
          return {kind, value, redis.call('PTTL', KEYS[1])}
          """);

  /** KEYS: the lock. Deletes it, whoever holds it, unless it is no lock at all. */
  static final Script REMOVE =
      Script.of(
          """
          local kind = redis.call('TYPE', KEYS[1]).ok
          if kind == 'none' then return 2 end
          if kind ~= 'string' then return redis.error_reply('WRONGTYPE it is no lock') end
          redis.call('DEL', KEYS[1])
          return 1
          """);

  private Scripts() {}

  /** Reads the reply of {@link #RELEASE}, {@link #EXTEND}, {@link #FENCE} or {@link #REMOVE}. */
  static @Nullable Answer compared(int node, @Nullable Object reply) {
    if (!(reply instanceof Long code)) {
      return null;
    }
    if (code == MINE || (code >= MINE_AND_MUTE && code <= MINE_AND_MUTE + MOST_LISTENERS)) {
      return Answer.MINE;
    }
    if (code == OTHER) {
      return Answer.OTHER;
    }
    return code == MISSING ? Answer.MISSING : null;
  }

  /** Whether a command ends a quarantine. */
  static boolean isEnd(Command command) {
    return command instanceof Command.Eval eval && END.equals(eval.script());
  }

  /** Whether a command takes a lock. */
  static boolean isAcquire(Command command) {
    return command instanceof Command.SetIfAbsent
        || (command instanceof Command.Eval eval
            && (ACQUIRE.is(eval.script()) || TAKE.is(eval.script())));
  }
}
