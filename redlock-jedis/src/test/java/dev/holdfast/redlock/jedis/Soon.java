package dev.holdfast.redlock.jedis;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for what comes at once, or within 10 s where the machine is busy. */
final class Soon {
  private Soon() {}

  static ConditionFactory soon() {
    return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
  }
}
