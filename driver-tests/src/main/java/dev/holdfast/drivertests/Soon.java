package dev.holdfast.drivertests;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for what comes at once, or within 10 s where the machine is busy. */
public final class Soon {
  private Soon() {}

  /** To be told what to wait for. */
  public static ConditionFactory soon() {
    return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
  }
}
