package dev.holdfast.redlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/**
 * Commands as they go over the wire: arrays of bulk strings. What is made is the result alone; the
 * clients' own ways ask for five times the memory.
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
    int length = lengthOf(word);
    int at = head(bytes, from, '$', length);
    if (length == word.length()) {
      for (int i = 0; i < length; i++) {
        bytes[at + i] = (byte) word.charAt(i);
      }
    } else {
      System.arraycopy(word.getBytes(UTF_8), 0, bytes, at, length);
    }
    return lineEnd(bytes, at + length);
  }

  /** In UTF-8. As many bytes as characters are ASCII, and nothing else is. */
  private static int lengthOf(String word) {
    for (int i = 0; i < word.length(); i++) {
      if (word.charAt(i) >= 0x80) {
        return word.getBytes(UTF_8).length;
      }
    }
    return word.length();
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
