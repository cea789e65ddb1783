package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Map;

/** A load that contestants are put through, slice by slice, in turns. */
interface Scenario {
  /** Returns the name by which it is chosen. */
  String id();

  /** Returns a title that says what is done. */
  String title();

  /** Returns the number of servers. */
  int nodes();

  /** Returns whether a kind of lock takes part. It can use this number of servers. */
  default boolean admits(Kind kind) {
    return true;
  }

  /** Returns the number of turns that each contestant has in a round. */
  default int turns(Effort effort) {
    return 1;
  }

  /** Returns the number of rounds that run before those that count. */
  default int warmUps(Effort effort) {
    return effort.warmUps();
  }

  /** Returns the number of rounds that count. */
  default int rounds(Effort effort) {
    return effort.rounds();
  }

  /** Returns whether contestants reach one of the servers through a {@link SlowProxy}. */
  default boolean isLinked() {
    return false;
  }

  /** Runs one turn of a contestant. */
  void slice(Subject subject, Effort effort, Tally tally) throws Exception;

  /** Returns the figures of a round. */
  Map<Figure, Double> figures(Tally tally);

  /** Returns further notes for the report. */
  default List<String> notes() {
    return List.of();
  }
}
