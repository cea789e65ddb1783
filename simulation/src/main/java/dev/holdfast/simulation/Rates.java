package dev.holdfast.simulation;

/**
 * The amount of each fault in a profile. Counts are the largest number of a fault in one run.
 * Messages are hit per mille.
 */
final class Rates {
  /** The time in which a run has faults, in addition to its longest ttl and a quarantine. */
  int seconds = 6;

  long driftPpm = 100;
  int stallsPerMille;
  int longestStallMillis;
  int breaksPerMille;
  int longestHoldMillis = 3_000;
  int longestPauseBetween = 4_000;
  int clientPauses;
  int midRoundPausesPerMille;
  int sleeps;
  int nodePauses;
  int partitions;
  int crashes;
  int emptyCrashesWithRest;
  int dataLosses;
  int guardedLosses;
  boolean losesAMinority;
  int clocksMended;
  int clocksOff;
  int guardsPerMille = 700;
  int freshPerMille;
  int longestTtlMillis;
  int nodeTimeoutMillis;
  boolean oneName;
  boolean stranger;
  boolean ambushes;
  int wallSteps;
  long longestWallStep = 3_600_000_000L;
  long clocksApartMillis;
  int longHoldsPerMille;
  int errorSpells;
  int clientDeaths;
  int closes;
  boolean driverReplays;
  boolean undisturbed;
  int distanceMicros;
  int stutterMillis;
  int transfersPerMille;

  /** Clients that may not listen. */
  int deafPerMille = 500;

  /** Sets a longer time, for faults that need it to show. */
  Rates lasts(int longerSeconds) {
    seconds = longerSeconds;
    return this;
  }

  /** Sets that nothing fails, so that no request may fail. */
  Rates undisturbed() {
    undisturbed = true;
    return this;
  }

  /**
   * Sets how far away nodes are at most, one way, and how long all of them stand still twice a
   * second.
   */
  Rates distant(int mostMicros, int mostMillis) {
    distanceMicros = mostMicros;
    stutterMillis = mostMillis;
    return this;
  }

  /** Leases are transferred to other processes, and their texts are delivered twice. */
  Rates transfers(int perMille) {
    transfersPerMille = perMille;
    return this;
  }

  Rates drift(long ppm) {
    driftPpm = ppm;
    return this;
  }

  Rates stalls(int perMille, int longestMillis) {
    stallsPerMille = perMille;
    longestStallMillis = longestMillis;
    return this;
  }

  Rates breaks(int perMille) {
    breaksPerMille = perMille;
    return this;
  }

  Rates holds(int longestMillis, int longestBetweenMillis) {
    longestHoldMillis = longestMillis;
    longestPauseBetween = longestBetweenMillis;
    return this;
  }

  Rates clientPauses(int most, int midRoundPerMille) {
    clientPauses = most;
    midRoundPausesPerMille = midRoundPerMille;
    return this;
  }

  Rates sleeps(int most) {
    sleeps = most;
    return this;
  }

  Rates nodePauses(int most) {
    nodePauses = most;
    return this;
  }

  Rates partitions(int most) {
    partitions = most;
    return this;
  }

  Rates crashes(int most) {
    crashes = most;
    return this;
  }

  Rates emptyCrashesWithRest(int most) {
    emptyCrashesWithRest = most;
    return this;
  }

  Rates dataLosses(int most) {
    dataLosses = most;
    return this;
  }

  /** Sets that no node has the restart guard. */
  Rates unguarded() {
    guardsPerMille = 0;
    return this;
  }

  /**
   * Returns rates with the restart guard and this many losses of data, each of one or more nodes.
   */
  Rates guarded(int mostLosses) {
    guardsPerMille = 1_000;
    freshPerMille = 120;
    guardedLosses = mostLosses;
    return this;
  }

  /** Sets that only one node loses its data, so that a quorum keeps its data. */
  Rates losesAMinority() {
    losesAMinority = true;
    return this;
  }

  /** Nodes come back with a clock that is up to an hour off. */
  Rates clocksOff(int most) {
    clocksOff = most;
    return this;
  }

  /** Nodes come back empty and with a clock that is behind, which is set right soon. */
  Rates clocksMended(int most) {
    clocksMended = most;
    return this;
  }

  Rates longestTtl(int millis) {
    longestTtlMillis = millis;
    return this;
  }

  Rates oneName() {
    oneName = true;
    return this;
  }

  /** Sets ttls that are hardly longer than a round may take. */
  Rates longRounds(int nodeTimeout) {
    nodeTimeoutMillis = nodeTimeout;
    longestTtlMillis = nodeTimeout * 13 / 10;
    return this;
  }

  /**
   * Sets that one client differs from the others: by a longer or a shorter maxTtl, or by fewer
   * nodes in its list. Only one node at a time is without its data, so that the others are a quorum
   * with data.
   */
  Rates stranger() {
    stranger = true;
    freshPerMille = 0;
    return this;
  }

  /** Sets that runs have an {@link Ambush}. */
  Rates ambushes() {
    ambushes = true;
    return this;
  }

  /**
   * Sets how many requests ask for a hold that is longer than a ttl, and mostly than the longest
   * ttl.
   */
  Rates longHolds(int perMille) {
    longHoldsPerMille = perMille;
    return this;
  }

  Rates wallSteps(int most) {
    wallSteps = most;
    return this;
  }

  /** Sets how far apart clients' wall clocks are at the start, which is also the longest step. */
  Rates clocksApart(int millis) {
    clocksApartMillis = millis / 2;
    longestWallStep = millis * 1_000L;
    return this;
  }

  Rates errorSpells(int most) {
    errorSpells = most;
    return this;
  }

  Rates clientDeaths(int most) {
    clientDeaths = most;
    return this;
  }

  Rates closes(int most) {
    closes = most;
    return this;
  }

  Rates driverReplays() {
    driverReplays = true;
    return this;
  }
}
