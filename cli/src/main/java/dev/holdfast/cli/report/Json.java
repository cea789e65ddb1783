package dev.holdfast.cli.report;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes JSON, on one line. */
public final class Json {
  private static final int FIRST_PRINTABLE = 0x20;

  private Json() {}

  /**
   * Writes a value.
   *
   * @param value a map with text as keys, a list, a number, a boolean or null. Anything else is
   *     written as text
   */
  public static String of(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> quoted(String.valueOf(entry.getKey())) + ": " + of(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
    }
    return value == null || value instanceof Number || value instanceof Boolean
        ? String.valueOf(value)
        : quoted(value.toString());
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < FIRST_PRINTABLE || Character.isSurrogate(c)) {
        // A lone surrogate, which a foreign key may hold, is no text in any encoding.
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
