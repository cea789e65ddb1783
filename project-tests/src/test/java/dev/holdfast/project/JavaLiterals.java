package dev.holdfast.project;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the string literals of a Java source, and joins those that a plus sign joins. */
final class JavaLiterals {
  private static final String CHARACTERS = "(?:[^%s\\\\]|\\\\.)*+";

  /** A comment, a text block, a string or a character: each hides the marks of the others. */
  static final Pattern TOKEN =
      Pattern.compile(
          "//[^\\n]*|/\\*.*?\\*/"
              + "|\"\"\"(?<block>(?:[^\"\\\\]|\\\\.|\"(?!\"\"))*+)\"\"\""
              + "|\"(?<text>"
              + CHARACTERS.formatted("\"")
              + ")\"|'"
              + CHARACTERS.formatted("'")
              + "'",
          Pattern.DOTALL);

  private static final Pattern PLUS = Pattern.compile("\\s*\\+\\s*");

  private JavaLiterals() {}

  /**
   * A literal, or several that are joined.
   *
   * @param line the line of its beginning, from 1
   * @param text the text as it is in the source, with escapes
   */
  record Literal(int line, String text) {}

  /** Returns all literals of a source, in their order. */
  static List<Literal> of(String source) {
    List<Literal> all = new ArrayList<>();
    int end = -1;
    Matcher token = TOKEN.matcher(source);
    while (token.find()) {
      String text = token.group("text") == null ? token.group("block") : token.group("text");
      if (text == null) {
        continue;
      }
      if (end >= 0 && PLUS.matcher(source.substring(end, token.start())).matches()) {
        Literal before = all.remove(all.size() - 1);
        all.add(new Literal(before.line(), before.text() + text));
      } else {
        all.add(new Literal(lineOf(source, token.start()), text));
      }
      end = token.end();
    }
    return all;
  }

  /** Returns the line of a position, from 1. */
  static int lineOf(String source, int position) {
    return 1 + (int) source.substring(0, position).chars().filter(c -> c == '\n').count();
  }
}
