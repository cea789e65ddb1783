package dev.holdfast.simulation;

import java.util.SplittableRandom;

/**
 * The size of a run.
 *
 * <p>With the restart guard on, ttls are short, so that quarantines end within a run.
 *
 * @param nodes N
 * @param clients processes
 * @param workers the threads that ask for locks, in each process
 * @param names how many names they ask for
 * @param nodeTimeoutMillis the option's value
 * @param quorumTimeoutMillis the option's value, barely above {@code nodeTimeout}, or up to 1 s
 * @param retryDelayMillis the option's value
 * @param longestTtlMillis of all requests of the run
 * @param latencyMicros one way, about
 * @param stutterMillis for how long all nodes stand still, twice a second, or 0 if they do not
 * @param fencing the option's value. Without it and the guard, the core sends a plain {@code SET}
 * @param guard the value of the option {@code restartGuard}
 * @param fresh whether no node has voted before. With the guard on, all begin under quarantine
 * @param seconds how long faults go on, in addition to the longest ttl and a quarantine
 */
record Setting(
    int nodes,
    int clients,
    int workers,
    int names,
    int nodeTimeoutMillis,
    int quorumTimeoutMillis,
    int retryDelayMillis,
    int longestTtlMillis,
    int latencyMicros,
    int stutterMillis,
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

  /** Default of the option. */
  private static final int LONGEST_QUORUM_TIMEOUT = 1_000;

  /** The allowance for drift uses up a ttl of 2 ms. */
  private static final int SHORTEST_TTL = 3;

  static Setting drawn(SplittableRandom random, Profile profile) {
    Rates rates = profile.rates();
    boolean guard = rates.guardsPerMille > 0 && random.nextInt(1_000) < rates.guardsPerMille;
    int nodeTimeout =
        rates.nodeTimeoutMillis > 0 ? rates.nodeTimeoutMillis : one(random, NODE_TIMEOUTS);
    boolean fresh = guard && random.nextInt(1_000) < rates.freshPerMille;
    return new Setting(
        one(random, NODES),
        2 + random.nextInt(2),
        random.nextInt(3) == 0 ? 2 : 1,
        rates.oneName ? 1 : 1 + random.nextInt(3),
        nodeTimeout,
        rates.stutterMillis > 0 ? LONGEST_QUORUM_TIMEOUT : quorumTimeout(random, nodeTimeout),
        200 + random.nextInt(600),
        rates.longestTtlMillis > 0
            ? rates.longestTtlMillis
            : one(random, guard ? GUARDED_TTLS : LONGEST_TTLS),
        rates.distanceMicros > 0
            ? 2_000 + random.nextInt(rates.distanceMicros)
            : 100 + random.nextInt(2_000),
        rates.stutterMillis > 0 ? 10 + random.nextInt(rates.stutterMillis) : 0,
        profile == Profile.FENCES || random.nextInt(5) > 0,
        guard,
        fresh,
        rates.seconds);
  }

  private static int one(SplittableRandom random, int... of) {
    return of[random.nextInt(of.length)];
  }

  /** Draws a value that is as likely barely above the node timeout as near the default. */
  private static int quorumTimeout(SplittableRandom random, int nodeTimeout) {
    int longest = Math.max(LONGEST_QUORUM_TIMEOUT, nodeTimeout * 13 / 10);
    double part = random.nextInt(3) == 0 ? 1 : random.nextDouble();
    return (int) Math.floor((nodeTimeout + 1) * Math.pow(longest / (nodeTimeout + 1.0), part));
  }

  /** Returns a ttl that most ttls are not below if this is the longest. */
  int usualTtlMillis(int longest) {
    int rounds = nodeTimeoutMillis < 200 ? 2 * nodeTimeoutMillis : nodeTimeoutMillis * 11 / 10;
    return Math.max(longest / 8, rounds + 20);
  }

  /** Returns the shortest ttl, which is barely above the allowance for drift. */
  int shortestTtlMillis() {
    return SHORTEST_TTL;
  }

  /** Returns the longest time of an attempt with this ttl, in microseconds. */
  long attempt(long ttlMillis) {
    return Math.min(quorumTimeout(), ttlMillis * 1_000);
  }

  /**
   * Returns the longest time of so many round trips in succession if nothing fails, in
   * microseconds. All nodes may stand still meanwhile: twice a second, and once more at the end.
   */
  long trips(int count) {
    long trips = 3L * count * latencyMicros;
    long stutters = stutterMillis == 0 ? 0 : trips / 280_000 + 2;
    return trips + stutters * stutterMillis * 1_000;
  }

  /**
   * Returns whether healthy nodes answer an attempt with this ttl before its limit. An attempt
   * takes two trips, each of them twice where a node does not know the script.
   */
  boolean isInTime(long ttlMillis) {
    long validity = ttlMillis * 990 - 2_100;
    return trips(4) < Math.min(quorumTimeout(), validity);
  }

  /** Returns a lower limit: no attempt with this ttl is an outage sooner, unless nodes fail. */
  long attemptAtLeast(long ttlMillis) {
    return Math.min(quorumTimeout(), validityMicros(ttlMillis)) - 1_000;
  }

  /** Returns for how long a grant with this ttl is valid, from the start of its attempt. */
  long validityMicros(long ttlMillis) {
    return ttlMillis * 990 - 2_000;
  }

  /**
   * Returns whether healthy nodes renew a lease with this ttl in time: after a whole attempt, or
   * behind an extension by the holder.
   */
  boolean isKeptInTime(long ttlMillis) {
    return trips(2) < quorumTimeout() && trips(10) + 10_000 < ttlMillis * 980;
  }

  /**
   * Returns the limit in microseconds of an extension or a transfer: two others of the same lease
   * may be before it, one of a client and a renewal.
   */
  long inTurn() {
    return 3 * quorumTimeout();
  }

  /** Returns the time that a call waits for a quorum of answers, in microseconds. */
  long quorumTimeout() {
    return quorumTimeoutMillis * 1_000L;
  }

  /** Returns the time at which all faults end. */
  long healing() {
    return seconds * 1_000_000L + longestTtlMillis * 1_000L + quarantine();
  }

  /** Returns the time at which a client must have got each name, except for nodes in quarantine. */
  long recovered() {
    return healing() + longestTtlMillis * 1_010L + 1_000_000;
  }

  /**
   * Returns the time at which a client must have got each name, whatever happened before healing.
   */
  long recoveredAtLast() {
    return recovered() + (guard ? UNTIL_SEEN + quarantine() * 101 / 100 : 0);
  }

  long end() {
    return recoveredAtLast() + 500_000;
  }

  /** Returns the length of a quarantine in microseconds, as the core reports it. */
  long quarantine() {
    return guard ? longestTtlMillis * 1_010L + 1_002_000 : 0;
  }

  int quorum() {
    return nodes / 2 + 1;
  }
}
