package dev.holdfast.cli.demo;

import dev.holdfast.cli.backend.Backend;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.Optional;

/**
 * The plan of a demo.
 *
 * @param seconds how long
 * @param workers how many processes
 * @param faults whether servers are frozen, killed and restarted
 * @param locked false for the control
 * @param json whether stdout is for a program
 * @param driver the driver for the servers
 * @param classPath where backends are in addition to our own, as it was given
 */
record DemoPlan(
    int seconds,
    int workers,
    boolean faults,
    boolean locked,
    boolean json,
    String driver,
    Optional<String> classPath) {
  /** A majority outlives two faults at once. */
  static final int NODES = 5;

  /** All locks of the demo have this one, and its URL says so, so that no quarantine is longer. */
  static final Duration TTL = Duration.ofSeconds(1);

  /** The most nodes that may be away at once: one less than a majority. */
  static final int MINORITY = (NODES - 1) / 2;

  /** Returns the URL of the locks. */
  String url(TestNodes nodes) {
    // several JVMs and servers start at once, which a busy machine may take seconds for
    return Backend.of(driver, nodes).url() + "?connectTimeout=10s&maxTtl=" + TTL.toMillis() + "ms";
  }
}
