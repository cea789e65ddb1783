package dev.holdfast.cli.report;

/** Text as it stands in XML and HTML, in elements and in attributes. */
public final class Markup {
  private static final char REPLACEMENT = '\ufffd';
  private static final int FIRST_PRINTABLE = 0x20;

  private Markup() {}

  public static String escaped(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                // As they are, attributes would have spaces in their place.
                case '\n' -> escaped.append("&#10;");
                case '\t' -> escaped.append("&#9;");
                case '\r' -> {}
                default -> escaped.appendCodePoint(isText(c) ? c : REPLACEMENT);
              }
            });
    return escaped.toString();
  }

  /** Returns whether XML can hold a character. It cannot hold the others, even escaped. */
  private static boolean isText(int c) {
    return c >= FIRST_PRINTABLE
        && !(c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
        && c != 0xfffe
        && c != 0xffff;
  }
}
