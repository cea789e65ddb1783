package dev.holdfast.tck.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/** A request as clients send it: an array of bulk strings. */
final class RespRequest {
  private final List<String> words;
  private final byte[] bytes;

  private RespRequest(List<String> words, byte[] bytes) {
    this.words = words;
    this.bytes = bytes;
  }

  /**
   * Reads one.
   *
   * @throws EOFException if there is none any more
   */
  static RespRequest read(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int count = readLength(in, '*', bytes);
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = readLength(in, '$', bytes);
      byte[] word = in.readNBytes(length + 2);
      if (word.length < length + 2) {
        throw new EOFException();
      }
      bytes.writeBytes(word);
      words.add(new String(word, 0, length, UTF_8));
    }
    return new RespRequest(words, bytes.toByteArray());
  }

  /** Returns whether the request contains this word. */
  boolean isAbout(String key) {
    return words.contains(key);
  }

  String text() {
    return String.join(" ", words);
  }

  /** Passes it on as it came. */
  void writeTo(OutputStream out) throws IOException {
    out.write(bytes);
  }

  private static int readLength(InputStream in, char type, ByteArrayOutputStream bytes)
      throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      bytes.write(c);
      line.append((char) c);
    }
    bytes.write('\n');
    if (!line.toString().matches("\\" + type + "\\d{1,9}\r")) {
      throw new IOException("no request of RESP: " + line);
    }
    return Integer.parseInt(line, 1, line.length() - 1, 10);
  }
}
