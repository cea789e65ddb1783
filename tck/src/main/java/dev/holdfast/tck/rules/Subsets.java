package dev.holdfast.tck.rules;

import java.util.List;
import java.util.stream.IntStream;

/** All ways to choose some of several things. */
final class Subsets {
  private Subsets() {}

  static <T> List<List<T>> of(List<T> all) {
    return IntStream.range(0, 1 << all.size())
        .mapToObj(
            mask ->
                IntStream.range(0, all.size())
                    .filter(i -> (mask & 1 << i) != 0)
                    .mapToObj(all::get)
                    .toList())
        .toList();
  }
}
