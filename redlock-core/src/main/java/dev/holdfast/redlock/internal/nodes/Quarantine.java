package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Vote;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a node in quarantine, with the vote that it would have given. The node lost its
 * data, and with it perhaps locks that are held. So it does not vote until all of them have expired
 * and a client has ended the quarantine.
 *
 * @param code the reply without the quarantine: the code of the key that it found, or the fencing
 *     token that it proposes
 * @param age the time since the node was first seen without its data
 * @param left the time until the quarantine may end, by this client's longest ttl, or zero or less
 *     if that has passed
 * @param more how much longer the quarantine is by the longest ttl of all clients that asked for
 *     locks at the node
 * @param isNew whether the node had no guard record, as a node that restarts empty has none. If no
 *     node had one, they may all be new
 * @param begun when the quarantine began by the node's clock, which identifies it
 */
public record Quarantine(
    long code, Duration age, Duration left, Duration more, boolean isNew, String begun) {
  /** Advice for nodes that really are new. Otherwise waiting is right. */
  public static final String IF_NEW = "holdfast nodes init --url …, or newNodes=trust";

  /** The state of a node whose quarantine has lasted for as long as it must. */
  public static final String CAN_END =
      "its quarantine can end, and does with the next request for a lock";

  private static final Pattern REPLY =
      Pattern.compile(
          "QUARANTINE (\\d{1,16}) (\\d{1,15}) (-?\\d{1,15}) (\\d{1,15}) ([01]) (\\d{1,17})");

  /**
   * Reads the error reply of a guarded script.
   *
   * @return null for any other error
   */
  public static @Nullable Quarantine in(String error) {
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

  /** Returns the vote on the key that the node found. */
  public Vote vote() {
    return code == Scripts.OTHER ? Vote.OTHER : code == Scripts.MISSING ? Vote.MISSING : Vote.MINE;
  }

  /**
   * Tells whether the quarantine may end.
   *
   * @param others by how much the quarantine of other clients is longer
   */
  public boolean isOver(Duration others) {
    return left.plus(others).compareTo(Duration.ZERO) <= 0;
  }

  /** Says why a node is in quarantine, without times. */
  public static String cause(boolean isNew) {
    return isNew ? "it is new or came back without its data" : "it came back without its data";
  }

  /**
   * Returns for example {@code it came back without its data 3 s ago; its vote counts again in 57
   * s}.
   */
  @Override
  public String toString() {
    String found = cause(isNew) + " " + seconds(age) + " ago; ";
    return isOver(Duration.ZERO)
        ? found + CAN_END
        : found + "its vote counts again in " + seconds(left);
  }

  public static String seconds(Duration duration) {
    return Math.round(Math.max(0, duration.toMillis()) / 1000.0) + " s";
  }
}
