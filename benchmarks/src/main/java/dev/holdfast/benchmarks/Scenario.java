package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Map;

/** A load that contestants are put through, slice by slice, in turns. */
interface Scenario {
  /** Returns the name by which it is chosen. */
  String id();

  /** Returns a title that says what is done. */
  String title();

  /** How many servers there are. */
  int nodes();

  /** Whether a lock takes part; it reaches these servers. */
  default boolean admits(Kind kind) {
    return true;
  }

  /** How often each contestant's turn comes in a round. */
  default int turns(Effort effort) {
    return 1;
  }

  /** How many rounds are run before those that count. */
  default int warmUps(Effort effort) {
    return effort.warmUps();
  }

  /** How many rounds count. */
  default int rounds(Effort effort) {
    return effort.rounds();
  }

  /** Whether contestants talk to one of the servers by a {@link SlowProxy}. */
  default boolean isLinked() {
    return false;
  }

  /** A turn. */
  void slice(Subject subject, Effort effort, Tally tally) throws Exception;

  /** Returns the figures of a round. */
  Map<Figure, Double> figures(Tally tally);

  /** Returns further notes for the report. */
  default List<String> notes() {
    return List.of();
  }
}
