package dev.holdfast.redlock;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the nodes hold under one key, put together. */
final class Inspection {
  private final int nodes;
  private final Map<String, List<Long>> ttlsOfValue = new HashMap<>();

  Inspection(int nodes) {
    this.nodes = nodes;
  }

  /** Reads the reply of {@link Scripts#INSPECT}. */
  synchronized @Nullable Answer read(int node, @Nullable Object reply) {
    if (!(reply instanceof List<?> parts)
        || parts.size() != 3
        || !(parts.get(0) instanceof String kind)
        || !(parts.get(1) instanceof String value)
        || !(parts.get(2) instanceof Long ttl)) {
      return null;
    }
    if (kind.equals("none")) {
      return Answer.MISSING;
    }
    String holder = kind.equals("string") ? value : "(a key of type " + kind + ")";
    ttlsOfValue.computeIfAbsent(holder, v -> new ArrayList<>()).add(ttl);
    return kind.equals("string") ? Answer.OTHER : Answer.WRONG_TYPE;
  }

  /** The value that most nodes hold; it is held for as long as its quorum-th longest ttl. */
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
                  Tokens.labelOf(value.getKey()),
                  Duration.ofMillis(Math.max(0, left)),
                  ttls.size(),
                  nodes);
            });
  }
}
