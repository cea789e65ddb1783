package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.Command;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.util.RedisOutputStream;

/** The encoding of commands: the bytes that Jedis would send. */
class EncodingTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 9, 10, 99, 100, 999, 1_000, 65_536})
  @DisplayName("a command is written as Jedis writes it, whatever the length of its words")
  void aCommandIsWrittenAsJedisWritesIt(int length) throws IOException {
    for (String letter : List.of("a", "ß", "漢", "🔒", "\ud83d", "\r\n", "\0")) {
      List<String> words = List.of("SET", letter.repeat(length), "", "x".repeat(length));

      assertThat(new Command.Plain(words).encoded()).isEqualTo(byJedis(words));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 10, 11, 100, 1_000})
  @DisplayName("a command is written as Jedis writes it, however many words it has")
  void aCommandOfManyWordsIsWrittenAsJedisWritesIt(int count) throws IOException {
    List<String> words = Collections.nCopies(count, "word");

    assertThat(new Command.Plain(words).encoded()).isEqualTo(byJedis(words));
  }

  private static byte[] byJedis(List<String> words) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (RedisOutputStream out = new RedisOutputStream(bytes)) {
      Protocol.sendCommand(out, Messages.arguments(new Command.Plain(words)));
    }
    return bytes.toByteArray();
  }
}
