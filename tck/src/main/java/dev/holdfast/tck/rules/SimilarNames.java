package dev.holdfast.tck.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Names that are the same to code that trims, folds, normalizes, decodes or cuts them, in two
 * parts.
 *
 * @param base with which all begin or end
 */
record SimilarNames(String base, List<String> some, List<String> others) {
  /** More than the bits of the number of names. */
  private static final int BITS = 6;

  /**
   * Returns divisions in two parts, each with a base of its own, so that of each two names each is
   * once in the first part while the other one is in the second.
   */
  static List<SimilarNames> dividedIn(TckFixture fixture, String end) {
    List<SimilarNames> all = new ArrayList<>();
    for (int division = 0; division < 2 * BITS; division++) {
      String base = fixture.name(end);
      List<String> names = of(base);
      List<String> some = new ArrayList<>();
      List<String> others = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) {
        boolean isFirst = ((i >> (division / 2)) & 1) == division % 2;
        (isFirst ? some : others).add(names.get(i));
      }
      all.add(new SimilarNames(base, some, others));
    }
    return all;
  }

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
