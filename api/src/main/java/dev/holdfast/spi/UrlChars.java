package dev.holdfast.spi;

/** The characters of a URL, by RFC 3986. */
final class UrlChars {
  private UrlChars() {}

  /** Allows the characters of a scheme, a driver, a shared name and an option's name. */
  static boolean isWord(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "-._~".indexOf(c) >= 0;
  }

  /** Allows those of user and password, except for commas between nodes and percent signs. */
  static boolean isUserInfo(char c) {
    return isWord(c) || "!$&'()*+;=:".indexOf(c) >= 0;
  }

  /** Returns the first index, from {@code from}, of any of some characters, else {@code to}. */
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
