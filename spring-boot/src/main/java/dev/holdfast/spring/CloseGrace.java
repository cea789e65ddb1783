package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The time that a manager gives to holders at shutdown. */
final class CloseGrace {
  private static final String TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";
  private static final Duration DEFAULT = Duration.ofSeconds(20);

  private CloseGrace() {}

  /**
   * Returns the grace.
   *
   * @param asked the value of the key, or null for the default
   * @param key for messages
   * @throws LockConfigurationException if Spring would not wait for it
   */
  static Duration of(@Nullable Duration asked, String key, Environment environment) {
    Duration timeout =
        Binder.get(environment).bind(TIMEOUT, Duration.class).orElse(Duration.ofSeconds(30));
    if (asked == null) {
      Duration most = timeout.multipliedBy(2).dividedBy(3);
      return most.compareTo(DEFAULT) < 0 ? most : DEFAULT;
    }
    if (asked.isNegative() || asked.compareTo(timeout) >= 0) {
      throw new LockConfigurationException(
          key
              + " is "
              + asked
              + ", but Spring waits "
              + timeout
              + " for the end of a phase; set it to less than "
              + TIMEOUT
              + ", and not below zero");
    }
    return asked;
  }
}
