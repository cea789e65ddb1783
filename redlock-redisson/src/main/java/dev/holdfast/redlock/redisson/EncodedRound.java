package dev.holdfast.redlock.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.Round;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.RedisCommand;

/** A round's command, encoded once for all of its nodes. */
final class EncodedRound {
  private final Round round;
  private final RedisCommand<Object> name;
  private final Object[] arguments;

  EncodedRound(Round round) {
    List<String> words = round.command().words();
    this.round = round;
    this.name = new RedisCommand<>(words.get(0));
    this.arguments = words.stream().skip(1).map(word -> word.getBytes(UTF_8)).toArray();
  }

  Round round() {
    return round;
  }

  /** Returns the command for one node, which votes when it completes, on that thread. */
  CommandData<Object, Object> to(NodeConnection connection) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    answer.whenComplete((reply, failure) -> connection.answered(this, reply, failure));
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }
}
