package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Map;

/** What contestants are put through, slice by slice, in turns. */
interface Scenario {
  /** By which it is chosen. */
  String id();

  /** What is done. */
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

  /** Whether contestants talk to one of the servers by a {@link SlowLink}. */
  default boolean isLinked() {
    return false;
  }

  /** A turn. */
  void slice(Subject subject, Effort effort, Tally tally) throws Exception;

  /** What a round has shown. */
  Map<Figure, Double> figures(Tally tally);

  /** What is to be known besides. */
  default List<String> notes() {
    return List.of();
  }
}
