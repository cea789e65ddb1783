package dev.holdfast.redlock.internal.lock;

import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The values that the nodes hold under one key. */
final class Inspection {
  private final int nodes;
  private int answers;
  private final Map<String, List<Long>> ttlsOfValue = new HashMap<>();

  Inspection(int nodes) {
    this.nodes = nodes;
  }

  /** Reads the reply of {@link Scripts#INSPECT}. */
  synchronized @Nullable Vote read(int node, @Nullable Object reply) {
    if (!(reply instanceof List<?> parts)
        || parts.size() != 3
        || !(parts.get(0) instanceof String kind)
        || !(parts.get(1) instanceof String value)
        || !(parts.get(2) instanceof Long ttl)) {
      return null;
    }
    answers++;
    if (kind.equals("none")) {
      return Vote.MISSING;
    }
    String holder = kind.equals("string") ? value : "(a key of type " + kind + ")";
    ttlsOfValue.computeIfAbsent(holder, v -> new ArrayList<>()).add(ttl);
    return kind.equals("string") ? Vote.OTHER : Vote.WRONG_TYPE;
  }

  /**
   * Returns the value that most nodes hold. It is held for as long as its quorum-th longest ttl.
   */
  synchronized Optional<LockStatus> status(String name) {
    return ttlsOfValue.entrySet().stream()
        .max(Comparator.comparingInt(value -> value.getValue().size()))
        .map(
            value -> {
              List<Long> ttls = value.getValue();
              ttls.sort(Comparator.<Long>naturalOrder().reversed());
              long left = ttls.get(Math.min(Tally.quorumOf(nodes), ttls.size()) - 1);
              return new LockStatus(
                  name,
                  LockValues.labelOf(value.getKey()),
                  Duration.ofMillis(Math.max(0, left)),
                  new LockVotes(ttls.size(), answers - ttls.size(), nodes - answers));
            });
  }
}
