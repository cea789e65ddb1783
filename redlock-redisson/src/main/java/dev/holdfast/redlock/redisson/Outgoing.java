package dev.holdfast.redlock.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.Round;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.RedisCommand;

/** A round's command, encoded once for all of its nodes. */
final class Outgoing {
  private final Round round;
  private final RedisCommand<Object> name;
  private final Object[] arguments;

  Outgoing(Round round) {
    List<String> words = round.command().words();
    this.round = round;
    this.name = new RedisCommand<>(words.get(0));
    this.arguments = words.stream().skip(1).map(word -> word.getBytes(UTF_8)).toArray();
  }

  /**
   * The command for one node, which votes when it completes, on the thread that completes it. A
   * connection on which it fails may give its reply to the next one: it is dropped.
   */
  CommandData<Object, Object> to(int node, NodeConnection connection) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    answer.whenComplete(
        (reply, failure) -> {
          if (failure == null) {
            round.reply(node, reply);
          } else if (failure instanceof Replies.ErrorReply error) {
            round.error(node, String.valueOf(error.getMessage()));
          } else {
            connection.drop();
            round.failure(node, reason(failure));
          }
        });
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }

  private static Throwable reason(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }
}
