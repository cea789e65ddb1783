package dev.holdfast.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.benchmarks.Kind.Ability;
import dev.holdfast.testnodes.TestNode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Thousands of locks are held and renewed in the background. */
record KeptAlive(int leases, Duration time) implements Scenario {
  private static final int NODES = 3;
  private static final int THREADS = 32;
  private static final int KEYS_PER_COMMAND = 1_000;

  /** Whatever the value is: ours is a string, Redisson's is a hash. */
  private static final String EXIST =
      "local found = {} for i, key in ipairs(KEYS) do found[i] = redis.call('EXISTS', key) end"
          + " return found";

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

  /** Runs with a contestant of its own, because only its end ends the renewals. */
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
      tally.note(Figure.LOST, (double) (leases - held(subject.nodes().all(), subject::name)));
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

  /** Returns the number of names that are on a majority of the servers. */
  long held(List<TestNode> nodes, IntFunction<String> name) {
    int[] on = new int[leases];
    nodes.forEach(node -> count(node, name, on));
    return Arrays.stream(on).filter(count -> count > NODES / 2).count();
  }

  private void count(TestNode node, IntFunction<String> name, int[] on) {
    for (int from = 0; from < leases; from += KEYS_PER_COMMAND) {
      int keys = Math.min(KEYS_PER_COMMAND, leases - from);
      List<String> command = new ArrayList<>(List.of("EVAL", EXIST, Integer.toString(keys)));
      IntStream.range(from, from + keys).mapToObj(name).forEach(command::add);
      List<?> exist =
          (List<?>) Objects.requireNonNull(node.command(command.toArray(String[]::new)));
      for (int i = 0; i < keys; i++) {
        on[from + i] += Long.valueOf(1).equals(exist.get(i)) ? 1 : 0;
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
        "lost: names that a majority of the servers does not hold at the end, cores: processor time"
            + " of this process alone, threads: more at the end than before the first lock");
  }
}
