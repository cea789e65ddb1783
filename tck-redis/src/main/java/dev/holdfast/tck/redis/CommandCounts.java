package dev.holdfast.tck.redis;

import java.util.Map;
import java.util.Set;

/**
 * Counts the requests of managers in the command statistics of a server. These include the calls of
 * scripts. Therefore commands that scripts call, and that alone neither acquire nor keep a lock,
 * are left out. A transaction is counted by its {@code WATCH}.
 */
final class CommandCounts {
  private static final String FIELD = "cmdstat_";

  private static final Set<String> OF_CONNECTIONS =
      Set.of(
          "acl",
          "auth",
          "client",
          "cluster",
          "command",
          "config",
          "dbsize",
          "echo",
          "flushall",
          "flushdb",
          "hello",
          "info",
          "keys",
          "ping",
          "psubscribe",
          "psync",
          "punsubscribe",
          "quit",
          "readonly",
          "replconf",
          "replicaof",
          "role",
          "script",
          "select",
          "slaveof",
          "subscribe",
          "sync",
          "unsubscribe");

  private static final Set<String> IN_SCRIPTS =
      Set.of(
          "del",
          "exists",
          "expire",
          "get",
          "hget",
          "pexpire",
          "pexpireat",
          "pttl",
          "publish",
          "time",
          "ttl",
          "type",
          "unlink");

  private static final Set<String> IN_TRANSACTIONS = Set.of("discard", "exec", "multi", "unwatch");

  private CommandCounts() {}

  /**
   * Returns the number of requests in {@code INFO commandstats}.
   *
   * @param commandStats its fields
   */
  static long requests(Map<String, String> commandStats) {
    return commandStats.entrySet().stream()
        .filter(field -> field.getKey().startsWith(FIELD) && isRequest(commandOf(field.getKey())))
        .mapToLong(field -> calls(field.getValue()))
        .sum();
  }

  /** Redis 7 counts {@code config|get} and the like apart. */
  private static String commandOf(String field) {
    return field.substring(FIELD.length()).replaceFirst("\\|.*", "");
  }

  private static boolean isRequest(String command) {
    return !OF_CONNECTIONS.contains(command)
        && !IN_SCRIPTS.contains(command)
        && !IN_TRANSACTIONS.contains(command);
  }

  private static long calls(String statistics) {
    return Long.parseLong(statistics.replaceFirst("calls=(\\d+).*", "$1"));
  }
}
