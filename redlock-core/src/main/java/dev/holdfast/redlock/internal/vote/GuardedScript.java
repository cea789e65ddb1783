package dev.holdfast.redlock.internal.vote;

import dev.holdfast.redlock.spi.Script;

/**
 * A script by which a node votes, with and without the restart guard before it.
 *
 * @param plain replies with the code that the script's body leaves
 * @param guarded does the same if the node has all its data. Otherwise the body runs anyway, and
 *     the reply is an error that {@code Quarantine} reads
 */
public record GuardedScript(Script plain, Script guarded) {
  /**
   * The guard. The last KEY: the guard record. The last ARGV: the number of the database, the terms
   * of the clients that vote (see {@code GuardTerms}), the length of a quarantine in microseconds,
   * the client's wall clock in microseconds.
   *
   * <p>A node's data is the same as before if its replication history and the database are: a
   * master that starts, or is promoted, begins another history. A replica has the history and the
   * guard record of its master, so it is refused. All this is read in the script, because facts
   * that a connection read earlier may be wrong by now.
   *
   * <p>A guard record that is missing, or of other data, begins a quarantine, whose beginning by
   * the node's clock and by the client's means the same to every client. If either clock shows less
   * than at the beginning, the quarantine begins again. A script that takes or extends a lock also
   * notes the longest quarantine that a client asked for. No vote ends a quarantine, only {@link
   * Scripts#END} does. From then on the guard record has terms, clients with other terms are
   * refused, and clocks are ignored: a node that votes reads nothing except what shows that it
   * votes, because each vote pays for it.
   */
  private static final String GUARD =
      """
      local at = #ARGV - 4
      local guard = KEYS[#KEYS]
      local text = redis.call('INFO', 'replication')
      if not string.find(text, 'role:master', 1, true) then
        return redis.error_reply('READONLY it is a replica')
      end
      local place = string.find(text, 'master_replid:', 1, true)
      local id = string.sub(text, place + 14, place + 53) .. ' ' .. ARGV[at + 1]
      local terms = ARGV[at + 2]
      local seen = redis.call('HMGET', guard, 'id', 'terms', 'since')
      local now = 0
      local since = 0
      local left = 0
      local more = 0
      local new = '0'
      if seen[1] ~= id or seen[2] ~= terms or seen[3] ~= '0' then
        if seen[1] == id and seen[3] == '0' then
          if seen[2] then return redis.error_reply('GUARDED ' .. seen[2]) end
          if #KEYS > 1 then
            redis.call('HSET', guard, 'terms', terms, 'longest', ARGV[at + 3])
          end
        else
          local begun = redis.call('HMGET', guard, 'wall', 'new', 'longest')
          local time = redis.call('TIME')
          now = time[1] * 1000000 + time[2]
          local wall = tonumber(ARGV[at + 4])
          since = tonumber(seen[3] or now)
          local from = tonumber(begun[1] or wall)
          new = begun[2] or '1'
          if seen[1] ~= id or not seen[3] or now < since or wall < from then
            if seen[1] and seen[1] ~= id then new = '0' end
            since = now
            from = wall
            redis.call('HSET', guard, 'id', id, 'since', since, 'wall', from, 'new', new)
          end
          local ours = tonumber(ARGV[at + 3])
          local longest = tonumber(begun[3] or 0)
          if #KEYS > 1 and longest < ours then
            redis.call('HSET', guard, 'longest', ARGV[at + 3])
          end
          left = ours - math.min(now - since, wall - from)
          more = math.max(0, longest - ours)
        end
      end
      """;

  private static final String QUARANTINE =
      """
      if since > 0 then
        return redis.error_reply('QUARANTINE ' .. string.format('%.0f', code) .. ' ' ..
          math.floor((now - since) / 1000) .. ' ' .. math.ceil(left / 1000) .. ' ' ..
          math.ceil(more / 1000) .. ' ' .. new .. ' ' .. string.format('%.0f', since))
      end
      """;

  private static final String END = "return code\n";

  /**
   * Makes both scripts.
   *
   * @param body leaves the vote in {@code code}: 0 no, 1 yes, 2 not there, or a fencing token
   */
  static GuardedScript of(String body) {
    return new GuardedScript(Script.of(body + END), Script.of(GUARD + body + QUARANTINE + END));
  }

  /**
   * Makes a script about the guard record alone.
   *
   * @param body finds {@code since}, which is zero on a node that votes, and the other variables
   */
  public static Script about(String body) {
    return Script.of(GUARD + body);
  }

  public boolean is(Script script) {
    return script.equals(plain) || script.equals(guarded);
  }
}
