package dev.holdfast.redlock;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a node under quarantine would have voted. It lost its data, and with it locks that may be
 * held, so it does not vote until all of them have expired and a client has ended the quarantine.
 *
 * @param code what it would have replied: what it found at the key, or the fencing token that it
 *     gives
 * @param age since it was first seen without its data
 * @param left until it may end, by this client's longest ttl; zero or less if that has passed
 * @param more how much longer it is by the longest ttl of all who asked for locks there
 * @param isNew whether it had no record of ever having voted, as a node that restarts empty has
 *     none; if no node has, they may all be new
 * @param begun when it began by the node's clock, which tells it from every other one
 */
record Quarantine(
    long code, Duration age, Duration left, Duration more, boolean isNew, String begun) {
  /** Advice for nodes that are new indeed. Where they are not, waiting is right. */
  static final String IF_NEW = "holdfast nodes init --url …, or newNodes=trust";

  private static final Pattern REPLY =
      Pattern.compile(
          "QUARANTINE (\\d{1,16}) (\\d{1,15}) (-?\\d{1,15}) (\\d{1,15}) ([01]) (\\d{1,17})");

  /** Reads the error reply of a guarded script; null if it is none. */
  static @Nullable Quarantine in(String error) {
    Matcher reply = REPLY.matcher(error);
    return reply.matches()
        ? new Quarantine(
            Long.parseLong(reply.group(1)),
            millis(reply.group(2)),
            millis(reply.group(3)),
            millis(reply.group(4)),
            reply.group(5).equals("1"),
            reply.group(6))
        : null;
  }

  private static Duration millis(String text) {
    return Duration.ofMillis(Long.parseLong(text));
  }

  /** What it found at the key. */
  Answer vote() {
    return code == Scripts.OTHER
        ? Answer.OTHER
        : code == Scripts.MISSING ? Answer.MISSING : Answer.MINE;
  }

  /** Whether it may end, as far as this client's locks and some others are concerned. */
  boolean isOver(Duration others) {
    return left.plus(others).compareTo(Duration.ZERO) <= 0;
  }

  /** For example {@code it came back without its data 3 s ago; its vote counts again in 57 s}. */
  @Override
  public String toString() {
    String found =
        (isNew ? "it is new or came back without its data " : "it came back without its data ")
            + seconds(age)
            + " ago; ";
    return isOver(Duration.ZERO)
        ? found + "its quarantine is over, but has not ended"
        : found + "its vote counts again in " + seconds(left);
  }

  static String seconds(Duration duration) {
    return Math.round(Math.max(0, duration.toMillis()) / 1000.0) + " s";
  }
}
