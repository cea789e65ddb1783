package dev.holdfast.benchmarks;

/** The progress of a run. Safe for use by many threads. */
final class Progress {
  private final int scenarios;
  private volatile String text = "starting";
  private volatile int begun;

  Progress(int scenarios) {
    this.scenarios = scenarios;
  }

  void scenario(int number) {
    begun = number + 1;
  }

  void round(Scenario scenario, int round, int rounds) {
    text =
        "%d of %d: %s, round %d of %d"
            .formatted(begun, scenarios, scenario.title(), round + 1, rounds);
  }

  String text() {
    return text;
  }
}
