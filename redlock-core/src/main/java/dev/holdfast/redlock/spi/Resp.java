package dev.holdfast.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/**
 * Encodes commands in RESP, as arrays of bulk strings. Allocates the result alone: the encoders of
 * the clients allocate five times as much.
 */
final class Resp {
  private static final int LINE_END = 2;

  private Resp() {}

  static byte[] encoded(List<String> words) {
    int length = lengthOfHead(words.size());
    for (int i = 0; i < words.size(); i++) {
      int word = lengthOf(words.get(i));
      length += lengthOfHead(word) + word + LINE_END;
    }
    byte[] bytes = new byte[length];
    int at = head(bytes, 0, '*', words.size());
    for (int i = 0; i < words.size(); i++) {
      at = word(bytes, at, words.get(i));
    }
    return bytes;
  }

  private static int word(byte[] bytes, int from, String word) {
    if (!isAscii(word)) {
      byte[] utf8 = word.getBytes(UTF_8);
      int at = head(bytes, from, '$', utf8.length);
      System.arraycopy(utf8, 0, bytes, at, utf8.length);
      return lineEnd(bytes, at + utf8.length);
    }
    int at = head(bytes, from, '$', word.length());
    for (int i = 0; i < word.length(); i++) {
      bytes[at + i] = (byte) word.charAt(i);
    }
    return lineEnd(bytes, at + word.length());
  }

  private static int lengthOf(String word) {
    return isAscii(word) ? word.length() : word.getBytes(UTF_8).length;
  }

  private static boolean isAscii(String word) {
    for (int i = 0; i < word.length(); i++) {
      if (word.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
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
