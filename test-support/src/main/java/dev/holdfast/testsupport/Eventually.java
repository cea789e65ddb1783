package dev.holdfast.testsupport;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.awaitility.core.ConditionFactory;

/** Waits for conditions. */
public final class Eventually {
  /** For what happens at once unless the machine is overloaded. */
  public static final Duration LIMIT = Duration.ofSeconds(15);

  private Eventually() {}

  /** Returns conditions with the usual limit, {@link #LIMIT}. */
  public static ConditionFactory soon() {
    return within(LIMIT);
  }

  /**
   * Returns conditions with another limit.
   *
   * @param limit how long to wait at most
   * @return looks every 5 ms, unless it gets another interval
   */
  public static ConditionFactory within(Duration limit) {
    return await()
        .atMost(limit)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5));
  }
}
