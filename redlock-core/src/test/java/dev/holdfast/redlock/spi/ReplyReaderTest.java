package dev.holdfast.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.redlock.spi.ReplyReader.ErrorReply;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyReaderTest {
  private static final String ALL =
      "+OK +fine -ERR_wrong :0 :-12 :9007199254740991 $6 schlü $0  $-1 _ =8 txt:info *0 *-1 "
              .replace(" ", "\r\n")
              .replace("_w", " w")
          + "*3 :1 *2 $-1 +OK $5 a\r\nbc *1 -ERR_inner ".replace(" ", "\r\n").replace('_', ' ');

  private static final List<@Nullable Object> REPLIES =
      Arrays.asList(
          "OK",
          "fine",
          new ErrorReply("ERR wrong"),
          0L,
          -12L,
          9007199254740991L,
          "schlü",
          "",
          null,
          null,
          "info",
          List.of(),
          null,
          Arrays.asList(1L, Arrays.asList(null, "OK"), "a\r\nbc"),
          List.of(new ErrorReply("ERR inner")));

  private final ReplyReader reader = new ReplyReader();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 1_000})
  void repliesAreReadInWhateverPiecesTheyCome(int size) throws IOException {
    List<@Nullable Object> replies = new ArrayList<>();
    InputStream pieces =
        new ByteArrayInputStream(ALL.getBytes(UTF_8)) {
          @Override
          public synchronized int read(byte[] bytes, int from, int length) {
            return super.read(bytes, from, Math.min(size, length));
          }
        };
    while (replies.size() < REPLIES.size()) {
      reader.receive(pieces);
      while (reader.hasNext()) {
        assertThat(reader.hasNext()).isTrue();
        replies.add(reader.next());
      }
    }
    assertThat(replies).isEqualTo(REPLIES);
    assertThat(pieces.available()).isZero();
  }

  @Test
  void aReplyMayBeLongerThanTheBuffer() throws IOException {
    String text = "x".repeat(100_000);
    InputStream in = stream(":1\r\n$100000\r\n" + text + "\r\n:2\r\n");
    assertThat(read(in)).isEqualTo(1L);
    assertThat(read(in)).isEqualTo(text);
    assertThat(read(in)).isEqualTo(2L);
  }

  @Test
  void aReplyIsCompleteOnceItsEndHasCome() throws IOException {
    reader.receive(stream("+O"));
    assertThat(reader.hasNext()).isFalse();
    assertThatThrownBy(() -> reader.receive(stream(""))).isInstanceOf(EOFException.class);
    reader.receive(stream("K\r\n"));
    assertThat(reader.hasNext()).isTrue();
    assertThat(reader.next()).isEqualTo("OK");
    assertThat(reader.hasNext()).isFalse();
  }

  @Test
  void bytesThatAreNoReplyAreNamed() {
    assertThatThrownBy(() -> read(stream("HTTP/1.1 400 Bad Request\r\n")))
        .isInstanceOf(IOException.class)
        .hasMessage("Invalid first byte: 72 in HTTP/1.1 400 Bad Req");
    assertThatThrownBy(() -> new ReplyReaderTest().read(stream("\25\3\3")))
        .hasMessageStartingWith("Invalid first byte: 21 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {":1a\r\n", "$1/\r\n", "*1:\r\n"})
  void invalidNumberIsRefused(String reply) {
    assertThatThrownBy(() -> read(stream(reply)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has no number " + reply.substring(1).strip());
  }

  @Test
  void impossibleSizeIsRefused() throws IOException {
    reader.receive(stream("$536870912\r\n"));
    assertThat(reader.hasNext()).isFalse();
    assertThatThrownBy(() -> new ReplyReaderTest().read(stream("*536870913\r\n")))
        .isInstanceOf(IOException.class)
        .hasMessage("a reply of Redis has no size of 536870913");
  }

  private @Nullable Object read(InputStream in) throws IOException {
    while (!reader.hasNext()) {
      reader.receive(in);
    }
    return reader.next();
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }
}
