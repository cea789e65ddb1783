package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.Kind.Family;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One server of five has a fault while threads acquire and release locks of their own. */
record TroubledNode(Trouble trouble) implements Scenario {
  private static final int NODES = 5;
  private static final int THREADS = 8;
  private static final Duration BEFORE = Duration.ofMillis(500);
  private static final Duration DURING = Duration.ofSeconds(3);
  private static final Duration QUICK_DURING = Duration.ofSeconds(1);

  /** Until all have noticed that the server is back. */
  private static final Duration RECOVERY = Duration.ofSeconds(1);

  @Override
  public String id() {
    return trouble.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String title() {
    return "N=5, one node " + trouble.words() + ", 8 threads, each with a lock of its own";
  }

  @Override
  public int nodes() {
    return NODES;
  }

  /** Returns false for a bare driver, because that waits for every reply. */
  @Override
  public boolean admits(Kind kind) {
    return kind.family() != Family.FLOOR;
  }

  /** Returns true only if the trouble needs the link, because the link itself costs time. */
  @Override
  public boolean isLinked() {
    return trouble == Trouble.SLOW;
  }

  @Override
  public int warmUps(Effort effort) {
    return 1;
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    TestNode node = subject.nodes().node(Field.LINKED);
    Tally before = new Tally();
    work(subject, BEFORE, before);
    trouble.begin(node, subject.link());
    try (Lateness lateness = Lateness.watched()) {
      work(subject, effort.either(DURING, QUICK_DURING), tally);
      tally.note(Figure.STALL, lateness.worstMillis());
      tally.note(Figure.KEPT, tally.perSecond() / before.perSecond());
    } finally {
      trouble.end(node, subject.link());
      TimeUnit.NANOSECONDS.sleep(RECOVERY.toNanos());
    }
  }

  private static void work(Subject subject, Duration time, Tally tally) throws Exception {
    Crowd.work(
        THREADS,
        time.toNanos(),
        tally,
        (number, end, own) ->
            Crowd.takeAndGiveBack(subject.contestant(), subject.name(number), end, own));
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = tally.noted();
    figures.put(Figure.PER_SECOND, tally.perSecond());
    figures.put(Figure.LONGEST_CALL, tally.longestMillis());
    figures.put(Figure.FAILED, tally.failures());
    return figures;
  }

  @Override
  public List<String> notes() {
    return List.of("kept: throughput, as a part of the half second before, with all nodes healthy");
  }
}
