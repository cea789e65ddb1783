package dev.holdfast.redis;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields that a server shows in its reply to {@code INFO}, by name. Immutable.
 *
 * @param fields empty if the user may not read them
 */
public record ServerInfo(Map<String, String> fields) {
  /**
   * Copies the fields.
   *
   * @param fields by name
   */
  public ServerInfo {
    fields = Map.copyOf(fields);
  }

  /**
   * Reads a reply.
   *
   * @param reply lines of the form {@code name:value}. All others are left out
   * @return its fields
   */
  public static ServerInfo in(String reply) {
    Map<String, String> fields = new HashMap<>();
    reply
        .lines()
        .forEach(
            line -> {
              int colon = line.indexOf(':');
              if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
              }
            });
    return new ServerInfo(fields);
  }

  /**
   * Returns the identity of the server's process.
   *
   * @return null if it is not shown
   */
  public @Nullable String runId() {
    return fields.get("run_id");
  }

  /**
   * Tells whether the server is a Sentinel.
   *
   * @return whether it monitors other servers and keeps no keys
   */
  public boolean isSentinel() {
    // Valkey says server_mode, Redis says redis_mode
    return "sentinel".equals(fields.getOrDefault("server_mode", fields.get("redis_mode")));
  }

  /**
   * Tells whether the server is part of a Redis Cluster.
   *
   * @return whether keys move between it and other servers
   */
  public boolean isInCluster() {
    return "1".equals(fields.get("cluster_enabled"));
  }

  /**
   * Tells whether the server copies another one.
   *
   * @return whether it has a {@link #master}
   */
  public boolean isReplica() {
    return "slave".equals(fields.get("role"));
  }

  /**
   * Returns the server that a replica copies.
   *
   * @return {@code host:port}
   */
  public String master() {
    return fields.get("master_host") + ":" + fields.get("master_port");
  }

  /**
   * Returns which keys the server may remove when its memory is full.
   *
   * @return the setting {@code maxmemory-policy}, {@code noeviction} if it is not shown
   */
  public String evictionPolicy() {
    return fields.getOrDefault("maxmemory_policy", "noeviction");
  }
}
