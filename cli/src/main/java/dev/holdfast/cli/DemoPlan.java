package dev.holdfast.cli;

import java.time.Duration;

/**
 * What a demo is to show.
 *
 * @param seconds how long
 * @param workers how many processes
 * @param faults whether servers are frozen, killed and restarted
 * @param locked false for the control
 * @param json whether stdout is for a program
 */
record DemoPlan(int seconds, int workers, boolean faults, boolean locked, boolean json) {
  /** A majority outlives two faults at once. */
  static final int NODES = 5;

  /** All locks of the demo have this one, so that it is the longest in use. */
  static final Duration TTL = Duration.ofSeconds(1);

  /** The most nodes that may be away at once: one less than a majority. */
  static final int MINORITY = (NODES - 1) / 2;
}
