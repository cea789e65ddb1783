package dev.holdfast.simulation;

import java.util.SplittableRandom;

/**
 * The size of a run.
 *
 * <p>With the restart guard on, ttls are short, so that quarantines end within a run.
 *
 * @param nodes N
 * @param clients processes
 * @param workers who ask for locks, in each process
 * @param names how many names they ask for
 * @param nodeTimeoutMillis what the option says
 * @param retryDelayMillis what the option says
 * @param longestTtlMillis of all requests of the run
 * @param latencyMicros one way, about
 * @param fencing what the option says; without it and the guard, the core sends a plain {@code SET}
 * @param guard what the option {@code restartGuard} says
 * @param fresh whether no node has voted before; with the guard on, all begin under quarantine
 * @param seconds how long faults go on, besides the longest ttl and a quarantine
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
    boolean fencing,
    boolean guard,
    boolean fresh,
    int seconds) {
  private static final int[] NODES = {3, 3, 3, 3, 5, 5, 4};
  private static final int[] NODE_TIMEOUTS = {50, 50, 20, 100};
  private static final int[] LONGEST_TTLS = {500, 1_000, 2_000, 4_000, 8_000};
  private static final int[] GUARDED_TTLS = {500, 1_000, 2_000, 4_000};

  /** Clients try to connect again after a second, and see only then what became of a node. */
  private static final long UNTIL_SEEN = 1_100_000;

  static Setting drawn(SplittableRandom random, Profile profile) {
    Rates rates = profile.rates();
    boolean guard = rates.guardsPerMille > 0 && random.nextInt(1_000) < rates.guardsPerMille;
    boolean fresh = guard && random.nextInt(1_000) < rates.freshPerMille;
    return new Setting(
        one(random, NODES),
        2 + random.nextInt(2),
        random.nextInt(3) == 0 ? 2 : 1,
        rates.oneName ? 1 : 1 + random.nextInt(3),
        rates.nodeTimeoutMillis > 0 ? rates.nodeTimeoutMillis : one(random, NODE_TIMEOUTS),
        200 + random.nextInt(600),
        rates.longestTtlMillis > 0
            ? rates.longestTtlMillis
            : one(random, guard ? GUARDED_TTLS : LONGEST_TTLS),
        100 + random.nextInt(2_000),
        profile == Profile.FENCES || random.nextInt(5) > 0,
        guard,
        fresh,
        rates.seconds);
  }

  private static int one(SplittableRandom random, int... of) {
    return of[random.nextInt(of.length)];
  }

  /** Of a request, if the longest is this. */
  int shortestTtlMillis(int longest) {
    int rounds = nodeTimeoutMillis < 200 ? 2 * nodeTimeoutMillis : nodeTimeoutMillis * 11 / 10;
    return Math.max(longest / 8, rounds + 20);
  }

  /** When all faults end. */
  long healing() {
    return seconds * 1_000_000L + longestTtlMillis * 1_000L + quarantine();
  }

  /** When somebody must have got each name, but for nodes that are under quarantine. */
  long recovered() {
    return healing() + longestTtlMillis * 1_010L + 1_000_000;
  }

  /** When somebody must have got each name, whatever happened to the nodes before healing. */
  long recoveredAtLast() {
    return recovered() + (guard ? UNTIL_SEEN + quarantine() * 101 / 100 : 0);
  }

  long end() {
    return recoveredAtLast() + 500_000;
  }

  /** How long a node keeps out of votes, in microseconds: what the core says of it. */
  long quarantine() {
    return guard ? longestTtlMillis * 1_010L + 1_002_000 : 0;
  }

  int quorum() {
    return nodes / 2 + 1;
  }
}
