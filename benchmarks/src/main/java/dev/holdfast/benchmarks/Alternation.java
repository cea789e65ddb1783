package dev.holdfast.benchmarks;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Puts contestants through a scenario in turns, in short slices, so that whatever else the machine
 * does hits all of them alike.
 */
final class Alternation {
  private static final CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();

  /**
   * The largest part of a round's time that compilers may take: a thread that compiles more takes a
   * processor from what is measured.
   */
  private static final double MAX_COMPILING = 0.05;

  /** The largest number of warm-up rounds of a full run, as a multiple of the least number. */
  private static final int PATIENCE = 4;

  private final Scenario scenario;
  private final Effort effort;
  private final Progress progress;
  private final Random orders = new Random(1);

  Alternation(Scenario scenario, Effort effort, Progress progress) {
    this.scenario = scenario;
    this.effort = effort;
    this.progress = progress;
  }

  Report.Result run(List<Kind> kinds) throws InterruptedException {
    List<Kind> admitted =
        kinds.stream()
            .filter(kind -> kind.reaches(scenario.nodes()) && scenario.admits(kind))
            .toList();
    Measured measured = new Measured();
    List<String> notes = new ArrayList<>(scenario.notes());
    try (Field field = new Field(admitted, scenario)) {
      int warmUps = warmUp(field);
      int rounds = scenario.rounds(effort);
      for (int round = 0; round < rounds; round++) {
        progress.round(scenario, round + warmUps, rounds + warmUps);
        round(field)
            .forEach((subject, tally) -> measured.add(subject.kind(), scenario.figures(tally)));
      }
      notes.addAll(field.notes());
    }
    return new Report.Result(
        scenario.id(), scenario.title(), scenario.rounds(effort), measured.rows(), notes);
  }

  /** Returns how many rounds it took until the compilers left the processors to the locks. */
  private int warmUp(Field field) throws InterruptedException {
    int least = scenario.warmUps(effort);
    int most = effort.either(PATIENCE, 1) * least;
    boolean busy = true;
    int round = 0;
    while (round < least || (busy && round < most)) {
      progress.round(scenario, round, Math.max(least, round + 1) + scenario.rounds(effort));
      long begun = System.nanoTime();
      long compiling = COMPILERS.getTotalCompilationTime();
      round(field);
      long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      busy = COMPILERS.getTotalCompilationTime() - compiling > MAX_COMPILING * took;
      round++;
    }
    return round;
  }

  private Map<Subject, Tally> round(Field field) throws InterruptedException {
    Map<Subject, Tally> tallies = new LinkedHashMap<>();
    field.subjects().forEach(subject -> tallies.put(subject, new Tally()));
    for (int i = 0; i < scenario.turns(effort); i++) {
      for (Subject subject : inTurn(field.subjects())) {
        try {
          scenario.slice(subject, effort, tallies.getOrDefault(subject, new Tally()));
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          tallies.remove(subject);
          field.leaveOut(subject, e);
        }
      }
    }
    return tallies;
  }

  /** Returns the contestants in random order, so that none always runs after the same one. */
  private List<Subject> inTurn(List<Subject> subjects) {
    List<Subject> order = new ArrayList<>(subjects);
    Collections.shuffle(order, orders);
    return order;
  }
}
