package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import java.util.List;

/** A text that may hold passwords, and everything that is ever shown of it. */
final class ShownText {
  private static final String MASK = "***";

  /** Of a longer text, this much is shown on either side of what is wrong. */
  private static final int CONTEXT = 80;

  private final String raw;
  private final List<Secrets.Span> hidden;

  ShownText(String raw) {
    this.raw = raw;
    this.hidden = Secrets.in(raw);
  }

  String raw() {
    return raw;
  }

  int length() {
    return raw.length();
  }

  char at(int index) {
    return raw.charAt(index);
  }

  /** What is wrong from one place up to another, with the text and a mark below it. */
  LockConfigurationException error(int from, int to, String what) {
    String shown = toString();
    int mark = shown(0, startOfHidden(from)).length();
    int markEnd =
        Math.max(mark + 1, Math.min(shown(0, Math.min(to, raw.length())).length(), mark + CONTEXT));
    int start = Math.max(0, mark - CONTEXT);
    int end = Math.min(shown.length(), markEnd + CONTEXT);
    String left = start == 0 ? "" : "…";
    String right = end == shown.length() ? "" : "…";
    return new LockConfigurationException(
        what
            + ("\n  " + left + shown.substring(start, end) + right)
            + ("\n  " + " ".repeat(left.length() + mark - start) + "^".repeat(markEnd - mark)));
  }

  /** Nothing may tell where in a hidden part something is wrong. */
  private int startOfHidden(int index) {
    return hidden.stream()
        .filter(span -> span.from() <= index && index < span.to())
        .findFirst()
        .map(Secrets.Span::from)
        .orElse(index);
  }

  /** A part, in quotation marks, as it may be shown. */
  String quoted(int from, int to) {
    String shown = shown(from, to);
    return "'" + (shown.length() > CONTEXT ? shown.substring(0, CONTEXT) + "…" : shown) + "'";
  }

  @Override
  public String toString() {
    return shown(0, raw.length());
  }

  String shown(int from, int to) {
    StringBuilder shown = new StringBuilder();
    int next = from;
    for (Secrets.Span span : hidden) {
      if (span.to() > next && span.from() < to) {
        append(shown, next, span.from());
        shown.append(MASK);
        next = span.to();
      }
    }
    append(shown, next, to);
    return shown.toString();
  }

  /** One sign for each that cannot be seen, or would break the line. */
  private void append(StringBuilder shown, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = raw.charAt(i);
      boolean visible =
          Character.isDefined(c)
              && !Character.isISOControl(c)
              && !Character.isSurrogate(c)
              && Character.getType(c) != Character.FORMAT
              && (c == ' ' || !Character.isWhitespace(c));
      shown.append(visible ? c : '\uFFFD');
    }
  }
}
