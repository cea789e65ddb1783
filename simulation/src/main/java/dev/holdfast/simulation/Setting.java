package dev.holdfast.simulation;

import java.util.SplittableRandom;

/**
 * The size of a run.
 *
 * @param nodes N
 * @param clients processes
 * @param workers who ask for locks, in each process
 * @param names how many names they ask for
 * @param nodeTimeoutMillis what the option says
 * @param retryDelayMillis what the option says
 * @param longestTtlMillis of all requests of the run
 * @param latencyMicros one way, about
 * @param fencing what the option says; without it, the core sends a plain {@code SET}
 */
record Setting(
    int nodes,
    int clients,
    int workers,
    int names,
    int nodeTimeoutMillis,
    int retryDelayMillis,
    int longestTtlMillis,
    int latencyMicros,
    boolean fencing) {
  private static final long LENGTH = 40_000_000;
  private static final int[] NODES = {3, 3, 3, 3, 5, 5, 4};
  private static final int[] NODE_TIMEOUTS = {50, 50, 20, 100};
  private static final int[] LONGEST_TTLS = {500, 1_000, 2_000, 4_000, 8_000};

  static Setting drawn(SplittableRandom random, Profile profile) {
    int nodes = one(random, NODES);
    return new Setting(
        nodes,
        2 + random.nextInt(2),
        random.nextInt(3) == 0 ? 2 : 1,
        profile == Profile.FENCES ? 1 : 1 + random.nextInt(3),
        one(random, NODE_TIMEOUTS),
        200 + random.nextInt(600),
        one(random, LONGEST_TTLS),
        100 + random.nextInt(2_000),
        profile == Profile.FENCES || random.nextInt(5) > 0);
  }

  private static int one(SplittableRandom random, int... of) {
    return of[random.nextInt(of.length)];
  }

  /** When all faults end. */
  long healing() {
    return LENGTH - 2_000_000 - longestTtlMillis * 1_100L;
  }

  /** When somebody must have got each name. */
  long recovered() {
    return healing() + longestTtlMillis * 1_010L + 1_000_000;
  }

  long end() {
    return recovered() + 500_000;
  }

  int quorum() {
    return nodes / 2 + 1;
  }
}
