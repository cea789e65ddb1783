package dev.holdfast.redlock;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a node under quarantine would have voted. It lost its data, and with it locks that may be
 * held, so it does not vote until all of them have expired.
 *
 * @param vote what it found at the key, which holds all the same
 * @param age since it was first seen without its data
 * @param left until it votes again
 * @param isNew whether it had no record of ever having voted, as a node that restarts empty has
 *     none; if no node has, they may all be new
 */
record Quarantine(Answer vote, Duration age, Duration left, boolean isNew) {
  private static final Pattern REPLY =
      Pattern.compile("QUARANTINE ([0-3]) (\\d{1,15}) (\\d{1,15}) ([01])");

  /** Reads the error reply of a guarded script; null if it is none. */
  static @Nullable Quarantine in(String error) {
    Matcher reply = REPLY.matcher(error);
    if (!reply.matches()) {
      return null;
    }
    Answer vote =
        switch (reply.group(1)) {
          case "0" -> Answer.OTHER;
          case "2" -> Answer.MISSING;
          default -> Answer.MINE;
        };
    return new Quarantine(
        vote,
        Duration.ofMillis(Long.parseLong(reply.group(2))),
        Duration.ofMillis(Long.parseLong(reply.group(3))),
        reply.group(4).equals("1"));
  }

  /** For example {@code it came back without its data 3 s ago; its vote counts again in 57 s}. */
  @Override
  public String toString() {
    return "it came back without its data "
        + seconds(age)
        + " ago; its vote counts again in "
        + seconds(left);
  }

  private static String seconds(Duration duration) {
    return Math.round(duration.toMillis() / 1000.0) + " s";
  }
}
