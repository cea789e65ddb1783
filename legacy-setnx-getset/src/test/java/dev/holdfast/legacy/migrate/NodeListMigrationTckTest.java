package dev.holdfast.legacy.migrate;

import dev.holdfast.LockManager;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;

/** The kit over Redlock twice, as when a list of nodes is changed: here the nodes are the same. */
@Tag("soak")
class NodeListMigrationTckTest extends LockManagerTck {
  private static final Set<String> OF_NODES =
      Set.of("nodeTimeout", "quorumTimeout", "connectTimeout", "connect");
  private static final String NEW_PREFIX = "new:";

  @Override
  protected TckEnvironment environment() {
    return RedisTckEnvironment.builder(NodeListMigrationTckTest::open)
        .nodes(3)
        .keyPrefix(NEW_PREFIX)
        .build();
  }

  private static LockManager open(List<String> uris, Map<String, String> options) {
    Map<String, String> own = new HashMap<>(options);
    own.keySet().removeAll(OF_NODES);
    own.put("from", url(uris, "old:", options));
    own.put("to", url(uris, NEW_PREFIX, options));
    return LockManager.open("migrate:both", own);
  }

  private static String url(List<String> uris, String keyPrefix, Map<String, String> options) {
    return "redlock:"
        + String.join(",", uris)
        + "?keyPrefix="
        + keyPrefix
        + OF_NODES.stream()
            .filter(options::containsKey)
            .map(option -> "&" + option + "=" + options.get(option))
            .collect(Collectors.joining());
  }
}
