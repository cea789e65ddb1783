package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A choice from a list of items.
 *
 * @param word the word for an item in messages
 * @param all all items in their order
 * @param id returns the name by which an item is chosen
 */
record Selection<T>(String word, List<T> all, Function<T, String> id) {
  /** Returns the items whose names begin so, or all items if nothing is wanted. */
  List<T> of(Set<String> wanted) {
    wanted.forEach(this::requireKnown);
    return all.stream()
        .filter(each -> wanted.isEmpty() || wanted.stream().anyMatch(id.apply(each)::startsWith))
        .toList();
  }

  /** Returns the same items and one that is always included. */
  List<T> with(String always, Set<String> wanted) {
    List<T> chosen = of(wanted);
    return all.stream()
        .filter(each -> chosen.contains(each) || id.apply(each).equals(always))
        .toList();
  }

  private void requireKnown(String beginning) {
    if (all.stream().noneMatch(each -> id.apply(each).startsWith(beginning))) {
      throw new IllegalArgumentException(
          "there is no " + word + " '" + beginning + "': " + all.stream().map(id).toList());
    }
  }
}
