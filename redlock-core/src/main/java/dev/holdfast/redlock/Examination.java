package dev.holdfast.redlock;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads from {@code INFO} whether a server that was just connected is fit to vote. */
final class Examination implements Round.Answers {
  private final Consumer<Found> found;
  private final Consumer<NodeException> failed;

  Examination(Consumer<Found> found, Consumer<NodeException> failed) {
    this.found = found;
    this.failed = failed;
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    found.accept(Found.in(String.valueOf(reply)));
  }

  /** A user who may not read {@code INFO} may still lock; nothing can be checked then. */
  @Override
  public void error(int node, String error) {
    if (error.startsWith("NOPERM")) {
      found.accept(new Found(Map.of()));
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
  record Found(Map<String, String> fields) {
    static Found in(String info) {
      Map<String, String> fields = new HashMap<>();
      info.lines()
          .forEach(
              line -> {
                int colon = line.indexOf(':');
                if (colon > 0) {
                  fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
                }
              });
      return new Found(fields);
    }

    @Nullable String runId() {
      return fields.get("run_id");
    }

    boolean isServer(@Nullable String otherRunId) {
      return otherRunId != null && otherRunId.equals(runId());
    }

    boolean isSentinel() {
      // Valkey says server_mode, Redis says redis_mode
      return "sentinel".equals(fields.getOrDefault("server_mode", fields.get("redis_mode")));
    }

    boolean isInCluster() {
      return "1".equals(fields.get("cluster_enabled"));
    }

    boolean isReplica() {
      return "slave".equals(fields.get("role"));
    }

    String master() {
      return fields.get("master_host") + ":" + fields.get("master_port");
    }

    String evictionPolicy() {
      return fields.getOrDefault("maxmemory_policy", "noeviction");
    }

    /** Every other policy can remove keys that have a ttl, as locks have. */
    boolean evicts() {
      return !evictionPolicy().equals("noeviction");
    }
  }
}
