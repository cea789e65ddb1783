package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import java.util.List;

/** A text that may hold passwords, and everything that is ever shown of it. */
final class MaskedText {
  private static final String MASK = "***";

  /** Characters of a long text that a message shows on either side of the error. */
  private static final int CONTEXT = 80;

  private final String raw;
  private final List<CredentialSpans.Span> hidden;

  MaskedText(String raw) {
    this.raw = raw;
    this.hidden = CredentialSpans.in(raw);
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

  /** Returns an error about a part of the text, with the text and a mark below that part. */
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

  /** Moves an index in a hidden part to its start, so that a message does not show the place. */
  private int startOfHidden(int index) {
    return hidden.stream()
        .filter(span -> span.from() <= index && index < span.to())
        .findFirst()
        .map(CredentialSpans.Span::from)
        .orElse(index);
  }

  /** Returns a part, masked and in quotation marks. */
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
    for (CredentialSpans.Span span : hidden) {
      if (span.to() > next && span.from() < to) {
        append(shown, next, span.from());
        shown.append(MASK);
        next = span.to();
      }
    }
    append(shown, next, to);
    return shown.toString();
  }

  /** Replaces each character that cannot be seen, or would break the line, by one sign. */
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
