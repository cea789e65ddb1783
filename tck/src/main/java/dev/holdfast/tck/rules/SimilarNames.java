package dev.holdfast.tck.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Names that code takes for one another which trims, folds, normalizes, decodes or cuts them. */
final class SimilarNames {
  private SimilarNames() {}

  /** Returns different names that begin or end with a base, which is one of them. */
  static List<String> of(String base) {
    List<String> names = new ArrayList<>(ofLetters(base));
    for (String end :
        List.of(
            "?", "*", "{a}", "{b}", "a b", "a%20b", "a+b", "a/b", "a//b", "\\", "\"", ":1", ":01",
            "%", "%s")) {
      names.add(base + end);
    }
    String longest = base + "n".repeat(1023 - base.length());
    names.addAll(List.of(longest + "1", longest + "2"));
    return names;
  }

  private static List<String> ofLetters(String base) {
    return List.of(
        base,
        base.toUpperCase(Locale.ROOT),
        " " + base,
        base + " ",
        base + "\t",
        base + "\n",
        base + "\r\n",
        base + "\u0000",
        base + "\u0000b",
        base + "\u200b",
        base + "\ufeff",
        "\ufeff" + base,
        base + "\u00e9",
        base + "e\u0301",
        base + "\u00c9",
        base + "\u00df",
        base + "ss",
        base + "\ufb01",
        base + "fi",
        base + "\ud83d\udd12",
        base + "\ud83d\udd13");
  }
}
