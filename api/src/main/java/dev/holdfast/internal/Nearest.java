package dev.holdfast.internal;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the word that somebody who mistyped probably meant. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known word with the smallest edit distance, case apart.
   *
   * @param word what was written
   * @param known what could have been meant
   * @return the nearest one, the alphabetically first of equals; empty if none is known
   */
  public static Optional<String> to(String word, Collection<String> known) {
    return known.stream()
        .min(
            Comparator.<String>comparingInt(k -> distance(lower(word), lower(k)))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static String lower(String word) {
    return word.toLowerCase(Locale.ROOT);
  }

  /** Levenshtein's distance, with one row of the table. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
