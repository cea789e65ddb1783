package dev.holdfast.spi;

/** The characters of a URL, by RFC 3986. */
final class UrlChars {
  private UrlChars() {}

  /** A scheme, a driver, a shared name, an option's name. */
  static boolean isWord(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "-._~".indexOf(c) >= 0;
  }

  /** User and password; without the comma, which parts nodes, and the percent sign. */
  static boolean isUserInfo(char c) {
    return isWord(c) || "!$&'()*+;=:".indexOf(c) >= 0;
  }

  /** The first place, from {@code from}, of one of some characters; {@code to} if there is none. */
  static int firstOf(String any, String text, int from, int to) {
    int i = from;
    while (i < to && any.indexOf(text.charAt(i)) < 0) {
      i++;
    }
    return i;
  }

  static boolean isHexPair(String text, int from, int to) {
    return from + 2 <= to
        && Character.digit(text.charAt(from), 16) >= 0
        && Character.digit(text.charAt(from + 1), 16) >= 0;
  }
}
