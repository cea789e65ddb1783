package dev.holdfast.testsupport;

import java.util.List;

/**
 * A wrong URL and the part of it that an error marks.
 *
 * @param url the URL
 * @param before how many characters are before the wrong part
 * @param marked how many characters the mark has
 */
public record MarkedUrl(String url, int before, int marked) {
  /**
   * Reads a URL whose wrong part is between two bars.
   *
   * @param text as in {@code memory:?a=|%|zz}. A caret between the bars is a place without a
   *     character
   */
  public static MarkedUrl parse(String text) {
    String[] parts = text.split("\\|", -1);
    String url = parts[0] + parts[1].replace("^", "") + parts[2];
    return new MarkedUrl(url, parts[0].length(), parts[1].length());
  }

  /** Returns the two lines of the error that show the URL, and the mark under it. */
  public List<String> lines() {
    return List.of("  " + url, "  " + " ".repeat(before) + "^".repeat(marked));
  }
}
