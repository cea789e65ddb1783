package dev.holdfast.redlock.internal.noscript;

import dev.holdfast.redlock.internal.nodes.SingleNodeCall;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Deletes a key of one node if it has a certain value, by one command, in one round trip. Redis 8.4
 * has {@code DELEX} for it and Valkey 9.0 has {@code DELIFEQ}. The server's version does not tell
 * what its user may run, so each command is tried once. Thread-safe.
 */
final class ConditionalDelete {
  private static final Object DELETED = 1L;
  private static final Object NOT_DELETED = 0L;

  private final RedisConnections connections;
  private final int node;
  private volatile Way way = Way.DELEX;

  private enum Way {
    DELEX,
    DELIFEQ,
    NONE;

    Command command(String key, String value) {
      return new Command.Plain(
          this == DELEX ? List.of("DELEX", key, "IFEQ", value) : List.of("DELIFEQ", key, value));
    }

    Way next() {
      return this == DELEX ? DELIFEQ : NONE;
    }
  }

  /** Sends nothing yet. */
  ConditionalDelete(RedisConnections connections, int node) {
    this.connections = connections;
    this.node = node;
  }

  /**
   * Deletes the key if it has this value.
   *
   * @return the code of {@link Scripts#RELEASE}, or null if the node has no such command, or its
   *     user may not run it, and nothing was done
   */
  CompletableFuture<@Nullable Object> run(String key, String value) {
    return run(key, value, way);
  }

  private CompletableFuture<@Nullable Object> run(String key, String value, Way by) {
    if (by == Way.NONE) {
      return CompletableFuture.completedFuture(null);
    }
    // first, because the reply 0 does not tell a missing key from the key of another owner
    CompletableFuture<@Nullable Object> before =
        SingleNodeCall.ask(connections, node, new Command.Plain(List.of("GET", key)));
    return SingleNodeCall.ask(connections, node, by.command(key, value))
        .handle(
            (reply, failure) -> {
              if (isRefused(SingleNodeCall.errorOf(failure))) {
                way = by.next();
                return run(key, value, by.next());
              }
              // the look's own failure first: GET says WRONGTYPE, and DELEX another error
              return before.thenCompose(
                  found ->
                      failure == null
                          ? code(reply, found, value)
                          : CompletableFuture.<@Nullable Object>failedFuture(failure));
            })
        .thenCompose(next -> next);
  }

  private static boolean isRefused(@Nullable String error) {
    return error != null && (error.startsWith("NOPERM") || error.startsWith("ERR unknown command"));
  }

  /**
   * Returns the code of a reply. A key that had our value and is not deleted has expired in
   * between.
   */
  private static CompletableFuture<@Nullable Object> code(
      @Nullable Object reply, @Nullable Object found, String value) {
    if (DELETED.equals(reply)) {
      return CompletableFuture.completedFuture(Scripts.MINE);
    }
    return NOT_DELETED.equals(reply)
        ? CompletableFuture.completedFuture(
            found == null || found.equals(value) ? Scripts.MISSING : Scripts.OTHER)
        : SingleNodeCall.failed("ERR no reply to a conditional DEL: " + reply);
  }
}
