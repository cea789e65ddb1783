package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RawRedisTest {
  private static TestNodes nodes;

  @BeforeAll
  static void start() {
    nodes = TestNodes.start(1);
  }

  @AfterAll
  static void close() {
    nodes.close();
  }

  @Test
  void readsEveryKindOfReply() {
    try (RawRedis redis = connect()) {
      assertThat(redis.call("SET", "key", "größer")).isEqualTo("OK");
      assertThat(redis.call("GET", "key")).isEqualTo("größer");
      assertThat(redis.call("GET", "none")).isNull();
      assertThat(redis.call("SET", "key", "x", "NX")).isNull();
      assertThat(redis.call("STRLEN", "key")).isEqualTo(8L);
      assertThat(redis.call("PTTL", "none")).isEqualTo(-2L);
      assertThat(redis.call("MGET", "key", "none")).isEqualTo(Arrays.asList("größer", null));
      assertThat(redis.call("KEYS", "nothing*")).isEqualTo(List.of());
      assertThat(redis.call("ECHO", "")).isEqualTo("");
      assertThat(redis.call("ECHO", "two\r\nlines")).isEqualTo("two\r\nlines");
      assertThat(redis.call("EVAL", "return {1, {'a', false}}", "0"))
          .isEqualTo(List.of(1L, Arrays.asList("a", null)));
    }
  }

  @Test
  void throwsAnErrorReplyWithItsTextAndGoesOn() {
    try (RawRedis redis = connect()) {
      redis.call("SET", "text", "x");
      assertThatThrownBy(() -> redis.call("LPUSH", "text", "y"))
          .asInstanceOf(InstanceOfAssertFactories.type(RedisErrorReply.class))
          .satisfies(error -> assertThat(error.code()).isEqualTo("WRONGTYPE"))
          .satisfies(
              error ->
                  assertThat(error)
                      .hasMessage(
                          "WRONGTYPE Operation against a key holding the wrong kind of value"));
      assertThat(redis.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void anErrorInsideOfAListIsAnElement() {
    try (RawRedis redis = connect()) {
      redis.call("MULTI");
      redis.call("SET", "text", "x");
      redis.call("LPUSH", "text", "y");
      assertThat(redis.call("EXEC"))
          .asInstanceOf(InstanceOfAssertFactories.LIST)
          .satisfiesExactly(
              ok -> assertThat(ok).isEqualTo("OK"),
              error -> assertThat(error).isInstanceOf(RedisErrorReply.class));
    }
  }

  @Test
  void manyMegabytesGoBothWays() {
    String value = "0123456789abcdef".repeat(1 << 18);
    try (RawRedis redis = RawRedis.connect("127.0.0.1", nodes.node(0).port(), Limits.LONG)) {
      assertThat(value.equals(redis.call("ECHO", value))).isTrue();
    }
  }

  @Test
  void neitherReadingNorWritingOutlastsItsLimitAndTheConnectionIsClosed() throws IOException {
    try (ServerSocket silent = silentServer()) {
      for (String argument : List.of("x", "x".repeat(16 << 20))) {
        try (RawRedis redis = RawRedis.connect("127.0.0.1", silent.getLocalPort(), Limits.SHORT)) {
          long start = System.nanoTime();
          assertThatThrownBy(() -> redis.call("ECHO", argument))
              .isInstanceOf(NodeException.class)
              .hasMessageContaining("127.0.0.1:" + silent.getLocalPort() + " did not answer ECHO");
          assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Limits.LONG);
          assertThatThrownBy(() -> redis.call("PING")).isInstanceOf(NodeException.class);
        }
      }
    }
  }

  @Test
  void aServerThatDripsItsReplyDoesNotStretchTheLimit() throws Exception {
    try (ServerSocket listening = silentServer();
        RawRedis redis = RawRedis.connect("127.0.0.1", listening.getLocalPort(), Limits.SHORT)) {
      CompletableFuture<Void> dripping = CompletableFuture.runAsync(() -> drip(listening));
      long start = System.nanoTime();
      assertThatThrownBy(() -> redis.call("PING")).isInstanceOf(NodeException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Limits.LONG);
      dripping.join();
    }
  }

  @Test
  void aServerThatIsNotRedisIsReported() throws IOException {
    try (ServerSocket web = silentServer();
        RawRedis redis = RawRedis.connect("127.0.0.1", web.getLocalPort());
        Socket accepted = web.accept()) {
      accepted.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n".getBytes(UTF_8));
      assertThatThrownBy(() -> redis.call("PING")).hasMessageContaining("not a RESP2 reply: HTTP");
    }
  }

  @Test
  void anAddressWithoutAServerIsNamed() throws IOException {
    int port;
    try (ServerSocket closed = silentServer()) {
      port = closed.getLocalPort();
    }
    assertThatThrownBy(() -> RawRedis.connect("127.0.0.1", port).close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("Cannot connect to 127.0.0.1:" + port);
    assertThatThrownBy(() -> RawRedis.connect("no-such-host.invalid", 1).close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("no-such-host.invalid:1");
  }

  @Test
  void anInterruptNeitherEndsACallNorGetsLost() {
    Thread.currentThread().interrupt();
    try (RawRedis redis = connect()) {
      assertThat(redis.call("PING")).isEqualTo("PONG");
    }
    assertThat(Thread.interrupted()).isTrue();
  }

  private static RawRedis connect() {
    return RawRedis.connect(nodes.node(0).host(), nodes.node(0).port());
  }

  private static ServerSocket silentServer() throws IOException {
    return new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
  }

  private static void drip(ServerSocket listening) {
    try (Socket accepted = listening.accept()) {
      // More often than the limit, so that a limit per read would never be reached.
      accepted.setSoTimeout((int) (Limits.SHORT.toMillis() / 5));
      long end = System.nanoTime() + 2 * Limits.LONG.toNanos();
      do {
        accepted.getOutputStream().write('+');
      } while (!hasGone(accepted) && System.nanoTime() < end);
    } catch (IOException e) {
      // The client has given up, which is the point.
    }
  }

  /** Waits for more of the client for as long as the socket's timeout. */
  private static boolean hasGone(Socket client) throws IOException {
    try {
      return client.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }
}
