package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The measurements of one scenario, round by round. Ratios are those within a round. */
final class Measured {
  private final Map<Kind, List<Map<Figure, Double>>> rounds = new LinkedHashMap<>();

  /** Adds a round of one contestant. */
  void add(Kind kind, Map<Figure, Double> figures) {
    rounds.computeIfAbsent(kind, k -> new ArrayList<>()).add(new EnumMap<>(figures));
  }

  /** Returns one row for each contestant, in the order in which they were added. */
  List<Report.Row> rows() {
    return rounds.keySet().stream().map(this::row).toList();
  }

  private Report.Row row(Kind kind) {
    List<Map<Figure, Double>> own = rounds.getOrDefault(kind, List.of());
    Map<Figure, Cell> cells = new EnumMap<>(Figure.class);
    own.get(0).keySet().forEach(figure -> cells.put(figure, cell(own, figure)));
    return new Report.Row(kind, cells);
  }

  private Cell cell(List<Map<Figure, Double>> own, Figure figure) {
    Optional<Spread> ratio =
        figure.isCompared() ? floor().map(floor -> ratio(own, floor, figure)) : Optional.empty();
    return new Cell(Spread.of(values(own, figure)), ratio);
  }

  private Optional<List<Map<Figure, Double>>> floor() {
    return rounds.entrySet().stream()
        .filter(entry -> entry.getKey().id().equals(Kinds.FLOOR))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  private static Spread ratio(
      List<Map<Figure, Double>> own, List<Map<Figure, Double>> floor, Figure figure) {
    List<Double> above = values(own, figure);
    List<Double> below = values(floor, figure);
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < Math.min(above.size(), below.size()); round++) {
      ratios.add(above.get(round) / below.get(round));
    }
    return Spread.of(ratios);
  }

  private static List<Double> values(List<Map<Figure, Double>> rounds, Figure figure) {
    return rounds.stream().map(round -> round.getOrDefault(figure, Double.NaN)).toList();
  }
}
