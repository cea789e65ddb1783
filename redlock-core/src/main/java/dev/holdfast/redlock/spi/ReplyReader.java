package dev.holdfast.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of one connection, in whatever pieces they come: those of RESP 2, and the nil
 * and the verbatim strings of RESP 3, the only ones that managers' commands have. For drivers that
 * read the socket themselves. Not safe for use by many threads.
 */
public final class ReplyReader {
  private static final int USUAL_BYTES = 8 * 1024;
  private static final int LINE_END = 2;

  /** The longest string of Redis, in bytes. */
  private static final int MAX_SIZE = 512 * 1024 * 1024;

  /** The result of reading a reply whose end has not come yet. */
  private static final Object INCOMPLETE = new Object();

  private byte[] bytes = new byte[USUAL_BYTES];
  private int from;
  private int to;
  private @Nullable Object next = INCOMPLETE;

  /** Has received nothing yet. */
  public ReplyReader() {}

  /**
   * An error reply.
   *
   * @param text its text, the code first
   */
  public record ErrorReply(String text) {}

  /**
   * Receives bytes, after all replies that are complete were taken.
   *
   * @param in the connection's stream, which is read once
   * @throws IOException if the stream throws it, such as a {@link java.net.SocketTimeoutException},
   *     after which this method may be called again, or if the stream has ended
   */
  public void receive(InputStream in) throws IOException {
    if (from > 0) {
      System.arraycopy(bytes, from, bytes, 0, to - from);
      to -= from;
      from = 0;
    }
    if (to == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * to);
    }
    int received = in.read(bytes, to, bytes.length - to);
    if (received < 0) {
      throw new EOFException("the node closed the connection");
    }
    to += received;
  }

  /**
   * Tells whether a reply is complete.
   *
   * @return false if more must be received first
   * @throws IOException if the bytes are no replies of Redis
   */
  public boolean hasNext() throws IOException {
    if (next == INCOMPLETE) {
      int start = from;
      next = read();
      if (next == INCOMPLETE) {
        from = start;
      }
    }
    return next != INCOMPLETE;
  }

  /**
   * Takes the next reply, after {@link #hasNext}.
   *
   * @return an {@link ErrorReply}, or what {@link Round#reply} takes
   */
  public @Nullable Object next() {
    Object reply = next;
    next = INCOMPLETE;
    return reply;
  }

  private @Nullable Object read() throws IOException {
    if (from == to) {
      return INCOMPLETE;
    }
    byte type = bytes[from];
    if ("+-:_$=*".indexOf(type) < 0) {
      String beginning = new String(bytes, from, Math.min(to - from, 20), UTF_8);
      throw new IOException("Invalid first byte: " + type + " in " + beginning.strip());
    }
    int start = from + 1;
    int end = start;
    while (end < to && bytes[end] != '\r') {
      end++;
    }
    if (end + LINE_END > to) {
      return INCOMPLETE;
    }
    from = end + LINE_END;
    return switch (type) {
      case '+' -> text(start, end);
      case '-' -> new ErrorReply(text(start, end));
      case ':' -> number(start, end);
      case '$' -> bulk(size(start, end), 0);
      case '=' -> bulk(size(start, end), "txt:".length());
      case '*' -> array(size(start, end));
      default -> null;
    };
  }

  private @Nullable Object bulk(int length, int prefix) {
    if (length < 0) {
      return null;
    }
    int start = from;
    if (to - start < length + LINE_END) {
      return INCOMPLETE;
    }
    from = start + length + LINE_END;
    return text(start + prefix, start + length);
  }

  private @Nullable Object array(int size) throws IOException {
    if (size < 0) {
      return null;
    }
    List<@Nullable Object> array = new ArrayList<>();
    while (array.size() < size) {
      Object part = read();
      if (part == INCOMPLETE) {
        return INCOMPLETE;
      }
      array.add(part);
    }
    return array;
  }

  /** Returns a text, and one constant for {@code OK}, the usual reply to {@code SET}. */
  private String text(int start, int end) {
    return end - start == 2 && bytes[start] == 'O' && bytes[start + 1] == 'K'
        ? "OK"
        : new String(bytes, start, end - start, UTF_8);
  }

  private int size(int start, int end) throws IOException {
    long size = number(start, end);
    if (size > MAX_SIZE) {
      throw new IOException("a reply of Redis has no size of " + size);
    }
    return (int) size;
  }

  private long number(int start, int end) throws IOException {
    boolean isNegative = bytes[start] == '-';
    long number = 0;
    for (int i = isNegative ? start + 1 : start; i < end; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9) {
        throw new IOException("a reply of Redis has no number " + text(start, end));
      }
      number = 10 * number + digit;
    }
    return isNegative ? -number : number;
  }
}
