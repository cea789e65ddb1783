package dev.holdfast.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.benchmarks.Kind.Ability;
import dev.holdfast.testnodes.TestNode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Thousands of locks are held and renewed in the background. */
record KeptAlive(int leases, Duration time) implements Scenario {
  private static final int NODES = 3;
  private static final int THREADS = 32;
  private static final int KEYS_PER_COMMAND = 1_000;
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  @Override
  public String id() {
    return "kept-alive";
  }

  @Override
  public String title() {
    return "N=%d, %,d locks are kept alive for %,d s, ttl %d s"
        .formatted(NODES, leases, time.toSeconds(), Terms.TTL.toSeconds());
  }

  @Override
  public int nodes() {
    return NODES;
  }

  @Override
  public boolean admits(Kind kind) {
    return kind.abilities().contains(Ability.KEEP);
  }

  @Override
  public int warmUps(Effort effort) {
    return 0;
  }

  @Override
  public int rounds(Effort effort) {
    return 1;
  }

  /** With a contestant of its own, because only its end ends the renewing. */
  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    try (Contestant contestant = subject.kind().opener().open(subject.uris())) {
      long heapBefore = Heap.used();
      take(contestant, subject, tally);
      int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
      tally.heapEach((double) (Heap.used() - heapBefore) / leases);
      long begun = System.nanoTime();
      long cpu = PROCESS.getProcessCpuTime();
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
      tally.cores((double) (PROCESS.getProcessCpuTime() - cpu) / (System.nanoTime() - begun));
      tally.threads(ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore);
      tally.lost((double) (leases - held(subject)));
    }
  }

  private void take(Contestant contestant, Subject subject, Tally tally) throws Exception {
    Crowd.work(
        THREADS,
        0,
        tally,
        (number, end, own) -> {
          for (int i = number; i < leases; i += THREADS) {
            if (!contestant.keep(subject.name(i))) {
              own.failed();
            }
          }
        });
  }

  /** So many names are there on a majority of the servers at least. */
  private long held(Subject subject) {
    List<Long> counts =
        subject.nodes().all().stream().map(node -> keys(node, subject)).sorted().toList();
    return counts.get(counts.size() / 2);
  }

  private long keys(TestNode node, Subject subject) {
    long keys = 0;
    for (int from = 0; from < leases; from += KEYS_PER_COMMAND) {
      String[] command = new String[1 + Math.min(KEYS_PER_COMMAND, leases - from)];
      command[0] = "EXISTS";
      for (int i = 1; i < command.length; i++) {
        command[i] = subject.name(from + i - 1);
      }
      keys += Long.parseLong(String.valueOf(node.command(command)));
    }
    return keys;
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    figures.put(Figure.LOST, tally.lost());
    figures.put(Figure.CORES, tally.cores());
    figures.put(Figure.HEAP_EACH, tally.heapEach());
    figures.put(Figure.THREADS, tally.threads());
    return figures;
  }

  @Override
  public List<String> notes() {
    return List.of(
        "lost: names that a majority of the servers does not hold in the end; cores: processor time"
            + " of this process alone; threads: more at the end than at the start");
  }
}
