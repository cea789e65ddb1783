package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;

/** The range of an option that is a time: above zero, up to a longest time. Immutable. */
public final class DurationRange {
  /** Timeouts and delays, up to an hour. Sockets and drivers count milliseconds in an int. */
  public static final DurationRange TIMEOUT = new DurationRange(Duration.ofHours(1), "1h");

  static final DurationRange MAX_TTL =
      new DurationRange(
          ManagerOptions.LONGEST_MAX_TTL, ManagerOptions.LONGEST_MAX_TTL.toDays() + " days");

  private final Duration longest;
  private final String shownLongest;

  private DurationRange(Duration longest, String shownLongest) {
    this.longest = longest;
    this.shownLongest = shownLongest;
  }

  /**
   * Checks a value that a program gives.
   *
   * @param option the option's name
   * @param value the value
   * @return the value
   * @throws LockConfigurationException if it is out of range
   */
  public Duration require(String option, Duration value) {
    if (!contains(value)) {
      throw new LockConfigurationException(option + ", " + value + ", " + outOfRange());
    }
    return value;
  }

  /**
   * Reads an option of a URL.
   *
   * @param url the URL
   * @param option the option's name
   * @param defaultValue the value if the URL does not have the option
   * @return above zero
   * @throws LockConfigurationException if it is out of range or no duration. Shows its place
   */
  public Duration read(LockUrl url, String option, Duration defaultValue) {
    Duration value = url.duration(option, defaultValue);
    if (!contains(value)) {
      throw url.wrongOption(option, outOfRange());
    }
    return value;
  }

  private boolean contains(Duration value) {
    return !value.isZero() && !value.isNegative() && value.compareTo(longest) <= 0;
  }

  private String outOfRange() {
    return "is out of range: give more than zero, up to " + shownLongest;
  }
}
