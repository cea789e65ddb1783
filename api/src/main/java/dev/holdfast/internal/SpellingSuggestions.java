package dev.holdfast.internal;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known word that a mistyped word probably stands for. */
public final class SpellingSuggestions {
  /** One letter in three may be wrong: "redlok" means redlock, "etcd" means nothing known. */
  private static final int LETTERS_PER_MISTAKE = 3;

  private SpellingSuggestions() {}

  /**
   * Returns the known word with the smallest edit distance, case apart.
   *
   * @param word the word as it was written
   * @param known the words that can be meant
   * @return the nearest one, the alphabetically first of equals, or empty if none is near
   */
  public static Optional<String> to(String word, Collection<String> known) {
    int mistakes = Math.max(1, word.length() / LETTERS_PER_MISTAKE);
    return known.stream()
        .filter(k -> distance(lower(word), lower(k)) <= mistakes)
        .min(
            Comparator.<String>comparingInt(k -> distance(lower(word), lower(k)))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static String lower(String word) {
    return word.toLowerCase(Locale.ROOT);
  }

  /** Returns Levenshtein's distance, where two letters that changed places are one mistake. */
  private static int distance(String a, String b) {
    int[] beforeLast = new int[b.length() + 1];
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(last[j], row[j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
        }
      }
      beforeLast = last;
      last = row;
    }
    return last[b.length()];
  }
}
