package dev.holdfast.redlock;

/**
 * A script by which a node votes: on its word alone, or with the restart guard before it.
 *
 * @param plain replies with the code that the script's body leaves
 * @param guarded as {@link #plain} where the node's data is known to be whole; where it is not, the
 *     body is run all the same, and the reply is an error that {@link Quarantine} reads
 */
record Vote(Script plain, Script guarded) {
  /**
   * KEYS, at the end: the guard. ARGV, at the end: the number of the database, the longest ttl in
   * milliseconds, the number of nodes, the name of the cluster, the length of a quarantine in
   * microseconds, the client's wall clock in microseconds.
   *
   * <p>A node's data is what it was as long as the run, the replication history and the database
   * are. They are read here, because what a connection was told once may be wrong by now. Both
   * clocks have to pass the quarantine; one that shows less than at its start begins it anew. At
   * its end that is written down, so that clocks are looked at no more. A record of other clients
   * is never changed. A word is found before it is matched, because a pattern is tried at each
   * letter of a text.
   */
  private static final String GUARD =
      """
      local at = #ARGV - 6
      local guard = KEYS[#KEYS]
      local text = redis.call('INFO', 'server')
      local run = string.match(text, 'run_id:(%w+)', string.find(text, 'run_id:', 1, true))
      text = redis.call('INFO', 'replication')
      local history = string.match(text, 'master_replid:(%w+)', string.find(text, 'master_replid:', 1, true))
      local id = run .. ' ' .. history .. ' ' .. ARGV[at + 1]
      local seen = redis.call('HMGET', guard, 'id', 'maxTtl', 'nodes', 'cluster', 'since', 'wall', 'new')
      if seen[2] and not (seen[2] == ARGV[at + 2] and seen[3] == ARGV[at + 3] and seen[4] == ARGV[at + 4]) then
        return redis.error_reply('GUARDED ' .. seen[2] .. ' ' .. seen[3] .. ' ' .. seen[4])
      end
      local now = 0
      local since = 0
      local left = 0
      local new = '0'
      if seen[1] ~= id or not seen[2] or seen[5] ~= '0' then
        local time = redis.call('TIME')
        now = time[1] * 1000000 + time[2]
        local wall = tonumber(ARGV[at + 6])
        since = tonumber(seen[5] or now)
        local from = tonumber(seen[6] or wall)
        new = seen[7] or '1'
        if seen[1] ~= id then
          since = now
          from = wall
          if seen[1] then new = '0' end
        elseif since > 0 and (now < since or wall < from) then
          since = now
          from = wall
        end
        if since > 0 then
          left = ARGV[at + 5] - math.min(now - since, wall - from)
          if left <= 0 then
            since = 0
            left = 0
            new = '0'
          end
        end
        if seen[1] ~= id or not seen[2] or tonumber(seen[5]) ~= since then
          redis.call('HSET', guard, 'id', id, 'maxTtl', ARGV[at + 2], 'nodes', ARGV[at + 3],
            'cluster', ARGV[at + 4], 'since', since, 'wall', from, 'new', new)
        end
      end
      """;

  private static final String QUARANTINE =
      """
      if left > 0 then
        return redis.error_reply('QUARANTINE ' .. math.min(code, 3) .. ' ' ..
          math.floor((now - since) / 1000) .. ' ' .. math.ceil(left / 1000) .. ' ' .. new)
      end
      """;

  private static final String END = "return code\n";

  /**
   * Makes both.
   *
   * @param body leaves the vote in {@code code}: 0 no, 1 yes, 2 not there, or a fencing token
   */
  static Vote of(String body) {
    return new Vote(Script.of(body + END), Script.of(GUARD + body + QUARANTINE + END));
  }

  boolean is(Script script) {
    return script.equals(plain) || script.equals(guarded);
  }
}
