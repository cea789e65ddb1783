package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts contestants through a scenario in turns, in short slices, so that whatever else the machine
 * does hits all of them alike.
 */
final class Alternation {
  private final Scenario scenario;
  private final Effort effort;
  private final Progress progress;
  private int turn;

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
      int warmUps = scenario.warmUps(effort);
      int rounds = scenario.rounds(effort);
      for (int round = -warmUps; round < rounds; round++) {
        progress.round(scenario, round + warmUps, rounds + warmUps);
        Map<Subject, Tally> tallies = round(field);
        if (round >= 0) {
          tallies.forEach(
              (subject, tally) -> measured.add(subject.kind(), scenario.figures(tally)));
        }
      }
      notes.addAll(field.notes());
    }
    return new Report.Result(
        scenario.id(), scenario.title(), scenario.rounds(effort), measured.rows(), notes);
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

  /** Each time another one is first, so that nobody always comes after the same. */
  private List<Subject> inTurn(List<Subject> subjects) {
    List<Subject> order = new ArrayList<>(subjects);
    Collections.rotate(order, turn++);
    return order;
  }
}
