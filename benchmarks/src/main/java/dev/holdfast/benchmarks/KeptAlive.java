package dev.holdfast.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.benchmarks.Kind.Ability;
import dev.holdfast.testnodes.TestNode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
      int threadsBefore = Waiters.liveThreads();
      take(contestant, subject, tally);
      tally.note(Figure.HEAP_EACH, (double) (Heap.used() - heapBefore) / leases);
      long begun = System.nanoTime();
      long cpu = PROCESS.getProcessCpuTime();
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
      double used = PROCESS.getProcessCpuTime() - cpu;
      tally.note(Figure.CORES, used / (System.nanoTime() - begun));
      tally.note(Figure.THREADS, Waiters.liveThreads() - threadsBefore);
      tally.note(Figure.LOST, (double) (leases - held(subject)));
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

  /** How many names are on a majority of the servers. */
  private long held(Subject subject) {
    int[] on = new int[leases];
    subject.nodes().all().forEach(node -> count(node, subject, on));
    return Arrays.stream(on).filter(nodes -> nodes > NODES / 2).count();
  }

  private void count(TestNode node, Subject subject, int[] on) {
    for (int from = 0; from < leases; from += KEYS_PER_COMMAND) {
      String[] command = new String[1 + Math.min(KEYS_PER_COMMAND, leases - from)];
      command[0] = "MGET";
      for (int i = 1; i < command.length; i++) {
        command[i] = subject.name(from + i - 1);
      }
      List<?> values = (List<?>) Objects.requireNonNull(node.command(command));
      for (int i = 0; i < values.size(); i++) {
        on[from + i] += values.get(i) == null ? 0 : 1;
      }
    }
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    return tally.noted();
  }

  @Override
  public List<String> notes() {
    return List.of(
        "lost: names that a majority of the servers does not hold in the end; cores: processor time"
            + " of this process alone; threads: more at the end than before the first lock");
  }
}
