package dev.holdfast.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A run: some scenarios, some contestants. */
public final class Bench {
  private final List<Scenario> scenarios;
  private final List<Kind> kinds;
  private final Effort effort;
  private final Progress progress;

  private Bench(List<Scenario> scenarios, List<Kind> kinds, Effort effort) {
    this.scenarios = scenarios;
    this.kinds = kinds;
    this.effort = effort;
    this.progress = new Progress(scenarios.size());
  }

  /**
   * Plans a run. The floor always takes part.
   *
   * @param scenarioIds the ids of the scenarios, or their beginnings, or none for all scenarios
   * @param contestantIds the ids of the contestants, or their beginnings, or none for all
   * @param rounds the number of rounds that count, or empty for the default
   * @param quick true for a short run that only shows that everything works
   * @return a run that has not begun
   * @throws IllegalArgumentException if there is no such scenario, or no such contestant
   */
  public static Bench of(
      Set<String> scenarioIds, Set<String> contestantIds, Optional<Integer> rounds, boolean quick) {
    Selection<Scenario> scenarios = new Selection<>("scenario", Scenarios.all(quick), Scenario::id);
    Selection<Kind> kinds = new Selection<>("contestant", Kinds.all(), Kind::id);
    return new Bench(
        scenarios.of(scenarioIds),
        kinds.with(Kinds.FLOOR, contestantIds),
        new Effort(rounds.orElse(quick ? Effort.QUICK_ROUNDS : Effort.ROUNDS), quick));
  }

  /**
   * Returns the contestants of this run.
   *
   * @return in the order in which they are shown
   */
  public List<Kind> contestants() {
    return kinds;
  }

  /**
   * Returns the scenarios of this run.
   *
   * @return each with its name and what is done in it
   */
  public List<Named> scenarios() {
    return scenarios.stream().map(each -> new Named(each.id(), each.title())).toList();
  }

  /**
   * Starts the servers, measures, and ends the servers.
   *
   * @param soFar receives all results so far after each scenario
   * @return all results
   * @throws InterruptedException if this thread was interrupted, after all servers have ended
   */
  public Report run(Consumer<Report> soFar) throws InterruptedException {
    Instant begun = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Machine machine = Machine.found();
    Report report = new Report(begun, machine, Terms.text(), List.of());
    for (Scenario scenario : scenarios) {
      progress.scenario(report.results().size());
      report = report.with(new Alternation(scenario, effort, progress).run(kinds));
      soFar.accept(report);
    }
    return report;
  }

  /**
   * Says how far the run is.
   *
   * @return a line
   */
  public String progress() {
    return progress.text();
  }

  /**
   * A scenario.
   *
   * @param id the name by which it is chosen
   * @param title a description
   */
  public record Named(String id, String title) {}
}
