package dev.holdfast.project;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the comments of a Java source, javadoc included, and splits them into paragraphs. */
final class JavaComments {
  private static final Pattern MARKS_AROUND = Pattern.compile("^(?://|/\\*\\*?)|\\*/$");
  private static final Pattern MARK_OF_A_LINE = Pattern.compile("^\\s*\\*");

  private static final Pattern INLINE_TAG = Pattern.compile("\\{@\\w+(?:[^{}]|\\{[^{}@]*})*}");
  private static final Pattern ENTITY = Pattern.compile("&#?\\w+;");
  private static final Pattern CODE_BLOCK = Pattern.compile("(?s)<pre>.*?</pre>");
  private static final Pattern HTML_TAG = Pattern.compile("</?\\w[^>]*>");

  /** The beginning of a line that begins a paragraph, without the words of the paragraph. */
  private static final Pattern BEGINNING =
      Pattern.compile("^(?:@param \\S+|@throws \\S+|@\\w+|<(?:p|li|pre|tr|td|h\\d)>)\\s*");

  private JavaComments() {}

  /**
   * A paragraph of a comment, or what a block tag says.
   *
   * @param line the line of its beginning, from 1
   * @param text its words in one line, with {@code `x`} in the place of inline tags
   */
  record Paragraph(int line, String text) {}

  /** Returns all paragraphs of a source, in their order. */
  static List<Paragraph> of(String source) {
    List<Paragraph> all = new ArrayList<>();
    int end = -1;
    Matcher token = JavaLiterals.TOKEN.matcher(source);
    while (token.find()) {
      if (!token.group().startsWith("/")) {
        continue;
      }
      boolean goesOn =
          token.group().startsWith("//")
              && end >= 0
              && source.substring(end, token.start()).matches("\\n\\s*");
      addParagraphs(all, JavaLiterals.lineOf(source, token.start()), token.group(), goesOn);
      end = token.group().startsWith("//") ? token.end() : -1;
    }
    return all;
  }

  private static void addParagraphs(
      List<Paragraph> all, int firstLine, String comment, boolean goesOn) {
    boolean joins = goesOn;
    int line = firstLine;
    String content = withoutTags(MARKS_AROUND.matcher(comment).replaceAll(""));
    for (String raw : content.split("\n", -1)) {
      String text = MARK_OF_A_LINE.matcher(raw).replaceFirst("").strip();
      Matcher beginning = BEGINNING.matcher(text);
      boolean begins = beginning.find();
      String words = HTML_TAG.matcher(beginning.replaceFirst("")).replaceAll("").strip();
      if (begins || words.isEmpty()) {
        joins = false;
      }
      if (!words.isEmpty()) {
        if (joins) {
          Paragraph before = all.remove(all.size() - 1);
          all.add(new Paragraph(before.line(), before.text() + " " + words));
        } else {
          all.add(new Paragraph(line, words));
        }
        joins = true;
      }
      line++;
    }
  }

  /** Replaces entities, blocks of code and inline tags, which may be nested. Keeps the lines. */
  private static String withoutTags(String comment) {
    String text = ENTITY.matcher(comment).replaceAll("&");
    for (Pattern tags : List.of(CODE_BLOCK, INLINE_TAG)) {
      for (Matcher tag = tags.matcher(text); tag.find(); tag = tags.matcher(text)) {
        String lines = "\n".repeat((int) tag.group().chars().filter(c -> c == '\n').count());
        text = text.substring(0, tag.start()) + "`x`" + lines + text.substring(tag.end());
      }
    }
    return text;
  }
}
