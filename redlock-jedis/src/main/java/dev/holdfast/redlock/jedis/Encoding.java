package dev.holdfast.redlock.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/**
 * Commands as they go over the wire: arrays of bulk strings. Jedis's own way is made for writing to
 * a stream, and asks for five times the memory.
 */
final class Encoding {
  private static final int LINE_END = 2;

  private Encoding() {}

  static byte[] of(List<String> words) {
    byte[][] encoded = new byte[words.size()][];
    int length = lengthOfHead(encoded.length);
    for (int i = 0; i < encoded.length; i++) {
      encoded[i] = words.get(i).getBytes(UTF_8);
      length += lengthOfHead(encoded[i].length) + encoded[i].length + LINE_END;
    }
    byte[] bytes = new byte[length];
    int at = head(bytes, 0, '*', encoded.length);
    for (byte[] word : encoded) {
      at = head(bytes, at, '$', word.length);
      System.arraycopy(word, 0, bytes, at, word.length);
      at = lineEnd(bytes, at + word.length);
    }
    return bytes;
  }

  private static int head(byte[] bytes, int at, char kind, int number) {
    bytes[at] = (byte) kind;
    int end = at + lengthOfHead(number) - LINE_END;
    int left = number;
    for (int digit = end - 1; digit > at; digit--) {
      bytes[digit] = (byte) ('0' + left % 10);
      left /= 10;
    }
    return lineEnd(bytes, end);
  }

  private static int lineEnd(byte[] bytes, int at) {
    bytes[at] = '\r';
    bytes[at + 1] = '\n';
    return at + LINE_END;
  }

  private static int lengthOfHead(int number) {
    int digits = 1;
    for (int left = number / 10; left > 0; left /= 10) {
      digits++;
    }
    return 1 + digits + LINE_END;
  }
}
