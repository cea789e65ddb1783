package dev.holdfast.benchmarks;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The scenario {@link OneName} with threads in several processes. */
record Processes(int nodes, int processes, int threads) implements Scenario {
  /**
   * Options for compilation by C1 alone, because the second compiler would be what is measured: C2
   * takes most of two processors at first.
   */
  private static final List<String> JVM = List.of("-XX:TieredStopAtLevel=1");

  private static final Duration TIME = Duration.ofSeconds(5);
  private static final Duration QUICK_TIME = Duration.ofSeconds(2);

  @Override
  public String id() {
    return "processes-" + nodes;
  }

  @Override
  public String title() {
    return "N=%d, %d processes of %d threads, one lock, held for 1 ms"
        .formatted(nodes, processes, threads);
  }

  @Override
  public int warmUps(Effort effort) {
    return 0;
  }

  @Override
  public int rounds(Effort effort) {
    return Math.min(effort.rounds(), effort.either(5, 1));
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    List<ChildJvm> children = new ArrayList<>();
    try {
      for (int i = 0; i < processes; i++) {
        children.add(ChildJvm.start(JVM, ContendingProcess.class, arguments(subject, effort)));
      }
      for (ChildJvm child : children) {
        child.line();
      }
      try (Lateness lateness = Lateness.watched()) {
        measure(subject, children, tally);
        tally.note(Figure.STALL, lateness.worstMillis());
      }
    } finally {
      children.forEach(ChildJvm::close);
    }
  }

  private List<String> arguments(Subject subject, Effort effort) {
    List<String> arguments = new ArrayList<>();
    arguments.add(subject.kind().id());
    arguments.add(Integer.toString(threads));
    arguments.add(Long.toString(effort.either(TIME, QUICK_TIME).toMillis()));
    arguments.addAll(subject.uris());
    return arguments;
  }

  private void measure(Subject subject, List<ChildJvm> children, Tally tally) throws Exception {
    long before = subject.commandsSent();
    long begun = System.nanoTime();
    for (ChildJvm child : children) {
      child.go();
    }
    long least = Long.MAX_VALUE;
    for (ChildJvm child : children) {
      String[] answer = child.line().split(" ", -1);
      Tally.Own own =
          Tally.Own.decoded(
              ByteBuffer.wrap(Base64.getDecoder().decode(answer[0])), Long.parseLong(answer[1]));
      least = Math.min(least, own.count());
      tally.add(own);
    }
    tally.took(System.nanoTime() - begun);
    tally.sent(subject.commandsSent() - before);
    tally.note(Figure.LEAST_SHARE, (double) least * processes / Math.max(1, tally.count()));
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    return OneName.waits(tally);
  }

  @Override
  public List<String> notes() {
    return List.of(
        "least share: the grants of the process with the fewest, as a part of an equal share",
        "JIT-compiled by C1 alone (-XX:TieredStopAtLevel=1), because otherwise compiling dominates"
            + " the measurement");
  }
}
