package dev.holdfast.redlock;

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

  /**
   * KEYS: the lock. ARGV: our token, for how many milliseconds to keep others out (0: delete).
   * Compares and deletes as one.
   */
  static final Script RELEASE =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then return 2 end
          if value ~= ARGV[1] then return 0 end
          if ARGV[2] == '0' then
            redis.call('DEL', KEYS[1])
          elseif redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
          end
          return 1
          """);

  /**
   * KEYS: the lock. ARGV: our token, the new ttl in milliseconds. Never shortens: a key shortened
   * by a request whose reply is lost would let a second owner in. A key that is gone (its node
   * restarted) is put back, but that is no vote: it counts from the next round on.
   */
  static final Script EXTEND =
      Script.of(
          """
          local value = redis.call('GET', KEYS[1])
          if not value then
            redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
            return 2
          end
          if value ~= ARGV[1] then return 0 end
          if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
          end
          return 1
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
}
