package dev.holdfast.redlock.redisson;

import java.util.concurrent.CompletableFuture;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.RedisCommand;

/** The first commands on a connection, after what Redisson itself sends. */
final class Greeting {
  private static final RedisCommand<Object> PING = new RedisCommand<>("PING");
  private static final RedisCommand<Object> SET_NAME = new RedisCommand<>("CLIENT", "SETNAME");

  /** What an operator sees in {@code CLIENT LIST}. */
  private static final String CLIENT_NAME = "holdfast";

  private Greeting() {}

  /**
   * Completes when the node has answered. A user who may not {@code PING} may still lock; and none
   * needs the right to give the connection a name.
   *
   * @param named whether to name the connection; those of the user's client bear that one's name
   */
  static CompletableFuture<Void> sendOn(NodeConnection connection, boolean named) {
    if (named) {
      connection.send(command(new CompletableFuture<>(), SET_NAME, CLIENT_NAME));
    }
    CompletableFuture<Object> pong = new CompletableFuture<>();
    connection.send(command(pong, PING));
    return pong.handle(
            (reply, failure) -> {
              String error = failure == null ? null : ErrorReply.in(failure);
              return failure == null || (error != null && error.startsWith("NOPERM "))
                  ? CompletableFuture.<Void>completedFuture(null)
                  : CompletableFuture.<Void>failedFuture(failure);
            })
        .thenCompose(outcome -> outcome);
  }

  private static CommandData<Object, Object> command(
      CompletableFuture<Object> answer, RedisCommand<Object> name, Object... arguments) {
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }
}
