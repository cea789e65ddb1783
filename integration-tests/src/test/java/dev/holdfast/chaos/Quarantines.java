package dev.holdfast.chaos;

import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Until when nodes do not vote, as the record of the restart guard says on each. */
final class Quarantines {
  private final List<TestNode> nodes;
  private final long[] ends;

  Quarantines(List<TestNode> nodes) {
    this.nodes = nodes;
    this.ends = new long[nodes.size()];
    Arrays.fill(ends, System.nanoTime());
  }

  /** One that begins later than at the last look is seen, too. */
  void look() {
    for (int i = 0; i < ends.length; i++) {
      ends[i] = Math.max(ends[i], end(nodes.get(i)));
    }
  }

  /** When a quorum votes. */
  long quorumVotesFrom() {
    long[] sorted = ends.clone();
    Arrays.sort(sorted);
    return sorted[ends.length / 2];
  }

  private static long end(TestNode node) {
    long now = System.nanoTime();
    try {
      long wall = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
      if (node.command("HMGET", "holdfast:guard", "since", "wall") instanceof List<?> record
          && record.get(0) instanceof String since
          && record.get(1) instanceof String from
          && !since.equals("0")) {
        long begun = Math.max(Long.parseLong(since), Long.parseLong(from));
        long left = Settings.QUARANTINE.toNanos() - TimeUnit.MICROSECONDS.toNanos(wall - begun);
        return now + left;
      }
    } catch (NodeException | RedisErrorReply e) {
      // the next look may tell
    }
    return Long.MIN_VALUE;
  }
}
