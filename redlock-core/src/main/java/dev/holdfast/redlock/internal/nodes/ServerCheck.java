package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redis.ServerError;
import dev.holdfast.redis.ServerInfo;
import dev.holdfast.redlock.spi.Round;
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
  public boolean isDecided() {
    return false;
  }

  /** Returns why a server is unfit to vote, or null if it looks fit. */
  static @Nullable NodeException fault(ServerInfo info) {
    if (info.isSentinel()) {
      return NodeException.misconfigured(ServerError.SENTINEL);
    }
    if (info.isInCluster()) {
      return NodeException.misconfigured(ServerError.CLUSTER);
    }
    return info.isReplica()
        ? NodeException.misconfigured("it is a replica of " + info.master() + ": give the master")
        : null;
  }
}
