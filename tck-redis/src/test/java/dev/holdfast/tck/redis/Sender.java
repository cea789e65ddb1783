package dev.holdfast.tck.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redis.RedisNodeUri;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;

/** A client that does not wait for replies. */
final class Sender implements AutoCloseable {
  private static final int LIMIT_MILLIS = 10_000;

  private final Socket socket;

  Sender(String uri) throws IOException {
    RedisNodeUri node = NodeUris.parse(uri);
    socket = new Socket(node.host(), node.port());
    socket.setSoTimeout(LIMIT_MILLIS);
  }

  void send(String... words) throws IOException {
    StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    socket.getOutputStream().write(request.toString().getBytes(UTF_8));
  }

  /** Sends on a connection that may have ended. */
  void tryToSend(String... words) {
    try {
      send(words);
    } catch (IOException ended) {
      // as it may
    }
  }

  /** Returns once the connection has ended without a reply. */
  void awaitEnd() throws IOException {
    try {
      int read = socket.getInputStream().read();
      if (read >= 0) {
        throw new AssertionError("a reply, where none was to come");
      }
    } catch (SocketException reset) {
      // that is an end, too
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
