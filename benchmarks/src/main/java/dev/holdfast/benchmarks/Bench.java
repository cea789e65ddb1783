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
   * @param scenarioIds those wanted, or the beginnings of them; none for all
   * @param contestantIds the same of contestants
   * @param rounds how many count; empty for what is usual
   * @param quick whether to look rather than to measure
   * @return a run that was not begun
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
   * The contestants of this run.
   *
   * @return in the order in which they are shown
   */
  public List<Kind> contestants() {
    return kinds;
  }

  /**
   * The scenarios of this run.
   *
   * @return each with its name and what is done in it
   */
  public List<Named> scenarios() {
    return scenarios.stream().map(each -> new Named(each.id(), each.title())).toList();
  }

  /**
   * Measures. Starts servers, and ends them.
   *
   * @param soFar is given what was measured so far after each scenario, and so all of it at the end
   * @return what was measured
   * @throws InterruptedException if this thread was interrupted; all is ended by then
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
   * @param id by which it is chosen
   * @param title what is done
   */
  public record Named(String id, String title) {}
}
