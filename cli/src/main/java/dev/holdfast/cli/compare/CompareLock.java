package dev.holdfast.cli.compare;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.legacy.setnx.SetnxLocks;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.jedis.JedisRedlock;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/** A kind of lock that is compared. All kinds use the same driver. */
enum CompareLock {
  SETNX("SETNX/GETSET", 1),
  /** The same pattern, whose holder never checks the time, and just sends DEL. */
  BARE("bare pattern", 1),
  SINGLE("SET NX PX", 1),
  OF_3("Redlock of 3", 3),
  OF_5("Redlock of 5", 5);

  /** Short, so that the lock is measured, and not the back-off of its waiters. */
  private static final Duration RETRY_DELAY = Duration.ofMillis(20);

  /** Patient: four kinds are measured at the same time, and each has a JVM to start. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

  private final String label;
  private final int nodes;

  CompareLock(String label, int nodes) {
    this.label = label;
    this.nodes = nodes;
  }

  String label() {
    return label;
  }

  /** Returns whether a holder can learn that its time is over before it goes on. */
  boolean asks() {
    return this != BARE;
  }

  /** Returns the number of its nodes. */
  int nodes() {
    return nodes;
  }

  LockManager open(List<String> uris) {
    return open(uris, Clock.system());
  }

  /** Opens a manager with a clock of its own. */
  LockManager open(List<String> uris, Clock clock) {
    if (this == SETNX || this == BARE) {
      return SetnxLocks.builder()
          .node(URI.create(uris.get(0)))
          .connectTimeout(CONNECT_TIMEOUT)
          .retryDelay(RETRY_DELAY)
          .clock(clock)
          .open();
    }
    JedisRedlock.Builder builder =
        JedisRedlock.builder()
            .options(
                RedlockOptions.defaults()
                    .connectTimeout(CONNECT_TIMEOUT)
                    .retryDelay(RETRY_DELAY)
                    .clock(clock));
    uris.forEach(uri -> builder.node(URI.create(uri)));
    return builder.open();
  }
}
