package dev.holdfast.legacy.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/**
 * The pattern of the SETNX command's page, as a fleet has it in production: written after that page
 * alone, on a plain socket, with nothing of the module that it is tested with.
 */
final class OldClient implements AutoCloseable {
  private final Socket socket;
  private final InputStream replies;
  private final String key;
  private final int timeout;
  private long stamp;

  /**
   * Connects.
   *
   * @param timeout in seconds
   */
  OldClient(String host, int port, String key, int timeout) throws IOException {
    this.socket = new Socket(host, port);
    this.socket.setTcpNoDelay(true);
    this.replies = new BufferedInputStream(socket.getInputStream());
    this.key = key;
    this.timeout = timeout;
  }

  /** Tries once. */
  boolean lock() throws IOException {
    long mine = now() + timeout + 1;
    if (":1".equals(call("SETNX", key, Long.toString(mine)))) {
      stamp = mine;
      return true;
    }
    String held = call("GET", key);
    if (held == null || Long.parseLong(held) >= now()) {
      return false;
    }
    mine = now() + timeout + 1;
    String before = call("GETSET", key, Long.toString(mine));
    if (before == null || Long.parseLong(before) < now()) {
      stamp = mine;
      return true;
    }
    return false;
  }

  void unlock() throws IOException {
    if (now() < stamp) {
      call("DEL", key);
    }
  }

  /** Until when others keep out, as Unix time in milliseconds. */
  long until() {
    return stamp * 1000;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private static long now() {
    return System.currentTimeMillis() / 1000;
  }

  /** A bulk string as it is, null for a missing one, else the line with its sign. */
  private @Nullable String call(String... words) throws IOException {
    StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    socket.getOutputStream().write(request.toString().getBytes(US_ASCII));
    String line = line();
    if (!line.startsWith("$")) {
      if (line.startsWith("-")) {
        throw new IOException(line);
      }
      return line;
    }
    return line.equals("$-1") ? null : line();
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = replies.read(); c != '\r'; c = replies.read()) {
      if (c < 0) {
        throw new EOFException("the server has closed the connection");
      }
      line.append((char) c);
    }
    if (replies.read() != '\n') {
      throw new IOException("a line without an end");
    }
    return line.toString();
  }
}
