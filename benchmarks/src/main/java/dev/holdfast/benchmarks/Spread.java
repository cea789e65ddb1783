package dev.holdfast.benchmarks;

import java.util.List;

/**
 * The spread of a figure over the rounds.
 *
 * @param median the middle one, or between the two middle ones if the rounds are an even number
 * @param least of all
 * @param most of all
 */
public record Spread(double median, double least, double most) {
  /**
   * Returns the spread of figures.
   *
   * @param rounds one or more
   * @return their spread
   */
  static Spread of(List<Double> rounds) {
    List<Double> sorted = rounds.stream().sorted().toList();
    int half = sorted.size() / 2;
    double median =
        sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
  }
}
