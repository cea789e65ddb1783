package dev.holdfast.redlock.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.spi.Command;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.RedisCommand;

/** A command as Redisson takes it, encoded once for all nodes of a round. */
final class RedissonCommand {
  private final RedisCommand<Object> name;
  private final Object[] arguments;

  RedissonCommand(Command command) {
    List<String> words = command.words();
    this.name = new RedisCommand<>(words.get(0));
    this.arguments = words.stream().skip(1).map(word -> word.getBytes(UTF_8)).toArray();
  }

  /** Returns the command for one connection, which completes the answer. */
  CommandData<Object, Object> to(CompletableFuture<Object> answer) {
    return new CommandData<>(answer, StringCodec.INSTANCE, name, arguments);
  }
}
