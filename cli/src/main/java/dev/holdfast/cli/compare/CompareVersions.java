package dev.holdfast.cli.compare;

import dev.holdfast.cli.backend.Origin;
import dev.holdfast.cli.command.Version;
import dev.holdfast.testnodes.TestNodes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The versions of a measurement.
 *
 * @param holdfast this program's version
 * @param redis the servers'
 * @param jedis the driver's
 * @param java the JVM's
 * @param processors of this machine
 */
record CompareVersions(String holdfast, String redis, String jedis, String java, int processors) {
  static CompareVersions found() {
    String redis;
    try (TestNodes nodes = TestNodes.start(1)) {
      redis = nodes.node(0).version();
    }
    return new CompareVersions(
        Version.number(),
        redis,
        Origin.of(redis.clients.jedis.Connection.class).flatMap(Origin::version).orElse("?"),
        Runtime.version().toString().replaceFirst("[+].*", ""),
        Runtime.getRuntime().availableProcessors());
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("holdfast", holdfast);
    members.put("redis", redis);
    members.put("jedis", jedis);
    members.put("java", java);
    return members;
  }

  String text() {
    return members().entrySet().stream()
        .map(entry -> entry.getKey() + " " + entry.getValue())
        .collect(Collectors.joining(", "));
  }
}
