package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Cell;
import dev.holdfast.benchmarks.Figure;
import dev.holdfast.benchmarks.Kind;
import dev.holdfast.benchmarks.Machine;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A run of the bench that never was. */
final class BenchSample {
  private BenchSample() {}

  static Report report(double failed) {
    return new Report(
        Instant.parse("2026-03-04T05:06:07Z"),
        new Machine(2, 512, "A JVM 17", 0.5, Map.of("server", "6.2")),
        List.of("ttl 30 s"),
        List.of(
            new Report.Result(
                "uncontended-1",
                "N=1, a <free> lock",
                3,
                List.of(
                    row("floor", "the floor", Kind.Family.FLOOR, 100, 1, 0),
                    row("ours", "ours, plain", Kind.Family.OURS, 75, 0.75, failed)),
                List.of("No lock is left out."))));
  }

  private static Report.Row row(
      String id, String label, Kind.Family family, double micros, double ratio, double failed) {
    return new Report.Row(
        new Kind(
            id,
            label,
            family,
            Kind.Reach.ANY,
            Set.of(),
            Set.of(),
            uris -> {
              throw new AssertionError("nothing is measured here");
            }),
        Map.of(
            Figure.P50,
            new Cell(
                new Spread(micros, micros - 1, micros + 1),
                Optional.of(new Spread(ratio, ratio / 2, ratio * 2))),
            Figure.FAILED,
            new Cell(new Spread(failed, 0, failed), Optional.empty())));
  }
}
