package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redlock.spi.Round;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads from {@code INFO} whether a server that was just connected is fit to vote. */
public final class ServerCheck implements Round.Answers {
  private final Consumer<ServerInfo> found;
  private final Consumer<NodeException> failed;

  ServerCheck(Consumer<ServerInfo> found, Consumer<NodeException> failed) {
    this.found = found;
    this.failed = failed;
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    found.accept(ServerInfo.in(String.valueOf(reply)));
  }

  /**
   * Passes a server whose user may not read {@code INFO}: the user may still lock, and nothing can
   * be checked.
   */
  @Override
  public void error(int node, String error) {
    if (error.startsWith("NOPERM")) {
      found.accept(new ServerInfo(Map.of()));
    } else {
      failed.accept(NodeException.reply(error));
    }
  }

  @Override
  public void failure(int node, Throwable cause) {
    failed.accept(NodeException.of(cause));
  }

  @Override
  public boolean decided() {
    return false;
  }

  /** The fields of {@code INFO}. */
  public record ServerInfo(Map<String, String> fields) {
    public static ServerInfo in(String info) {
      Map<String, String> fields = new HashMap<>();
      info.lines()
          .forEach(
              line -> {
                int colon = line.indexOf(':');
                if (colon > 0) {
                  fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
                }
              });
      return new ServerInfo(fields);
    }

    @Nullable String runId() {
      return fields.get("run_id");
    }

    boolean isServer(@Nullable String otherRunId) {
      return otherRunId != null && otherRunId.equals(runId());
    }

    /** Returns why the server is unfit to vote, or null if it looks fit. */
    @Nullable NodeException fault() {
      if (isSentinel()) {
        return NodeException.misconfigured(NodeException.SENTINEL);
      }
      if (isInCluster()) {
        return NodeException.misconfigured(NodeException.CLUSTER);
      }
      return isReplica()
          ? NodeException.misconfigured("it is a replica of " + master() + ": list masters only")
          : null;
    }

    public boolean isSentinel() {
      // Valkey says server_mode, Redis says redis_mode
      return "sentinel".equals(fields.getOrDefault("server_mode", fields.get("redis_mode")));
    }

    private boolean isInCluster() {
      return "1".equals(fields.get("cluster_enabled"));
    }

    boolean isReplica() {
      return "slave".equals(fields.get("role"));
    }

    private String master() {
      return fields.get("master_host") + ":" + fields.get("master_port");
    }

    String evictionPolicy() {
      return fields.getOrDefault("maxmemory_policy", "noeviction");
    }

    /** Tells whether the policy can remove keys that have a ttl, as locks have. */
    boolean evicts() {
      return !evictionPolicy().equals("noeviction");
    }
  }
}
