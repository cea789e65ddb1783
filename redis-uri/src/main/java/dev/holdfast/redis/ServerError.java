package dev.holdfast.redis;

import java.util.List;
import java.util.Set;

/**
 * An error reply of a server. Immutable.
 *
 * @param text as the server sent it, the code first, without the arguments that some servers repeat
 */
public record ServerError(String text) {
  /** The message for a Sentinel in place of a master. */
  public static final String SENTINEL =
      "it is a Sentinel, which holds no locks: give the master itself, redis://host:6379";

  /** The message for a node of a Cluster in place of a master. */
  public static final String CLUSTER =
      "it is a node of a Redis Cluster, which moves keys from node to node: give independent"
          + " masters with cluster-enabled no";

  /** Codes of faults that only a person can correct. Errors with other codes may pass. */
  private static final Set<String> MISCONFIGURED =
      Set.of(
          "NOAUTH",
          "WRONGPASS",
          "NOPERM",
          "READONLY",
          "NOPROTO",
          "DENIED",
          "MOVED",
          "ASK",
          "CROSSSLOT",
          "CLUSTERDOWN");

  /**
   * Beginnings of such errors without a code of their own: the URL has a password too many or a
   * wrong database.
   */
  private static final List<String> MISTAKEN =
      List.of("ERR AUTH ", "ERR Client sent AUTH", "ERR DB index", "ERR invalid DB index");

  /**
   * Beginnings of the errors of a Sentinel. Clients send {@code SELECT} first, and on Redis 6 and 7
   * every other server knows it.
   */
  private static final List<String> OF_SENTINEL =
      List.of("ERR unknown command `SELECT`", "ERR unknown command 'SELECT'");

  /** The words after which an error may repeat a password. */
  private static final String ECHO = ", with args beginning with: ";

  /**
   * Cuts off the arguments that the error repeats.
   *
   * @param text as the server sent it
   */
  public ServerError {
    text = withoutArguments(text);
  }

  /**
   * Returns a message without the arguments of a command, which may be a password.
   *
   * @param message an error, or what repeats one
   * @return the message up to the arguments, the same if it has none
   */
  public static String withoutArguments(String message) {
    return hasArguments(message) ? message.substring(0, message.indexOf(ECHO)) : message;
  }

  /**
   * Tells whether a message repeats the arguments of a command.
   *
   * @param message an error, or what repeats one
   * @return whether {@link #withoutArguments} is shorter
   */
  public static boolean hasArguments(String message) {
    return message.contains(ECHO);
  }

  /**
   * Returns the first word of the error.
   *
   * @return for example {@code NOAUTH}
   */
  public String code() {
    int end = text.indexOf(' ');
    return end < 0 ? text : text.substring(0, end);
  }

  /**
   * Tells whether only a person can correct this, at the server or in its URL.
   *
   * @return false if it may pass
   */
  public boolean isMisconfiguration() {
    return MISCONFIGURED.contains(code()) || isOfUrl() || isOfSentinel();
  }

  /**
   * Returns the error, and its correction by a person.
   *
   * @return the text, with the advice in parentheses if there is one
   */
  public String advised() {
    if (isOfSentinel()) {
      return SENTINEL;
    }
    return text + (isOfUrl() ? " (check this node's URL)" : advice());
  }

  private boolean isOfUrl() {
    return MISTAKEN.stream().anyMatch(text::startsWith);
  }

  private boolean isOfSentinel() {
    return OF_SENTINEL.stream().anyMatch(text::startsWith);
  }

  private String advice() {
    return switch (code()) {
      case "NOAUTH" -> " (give redis://user:password@host:port)";
      case "WRONGPASS" -> " (check the user and password of this node's URL)";
      case "NOPERM" -> " (this user's ACL lacks a right)";
      case "READONLY" -> " (this node is a replica: give the master)";
      case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN" -> " (" + CLUSTER + ")";
      case "OOM" -> " (the node's maxmemory is used up)";
      case "LOADING" -> " (the node is still reading its data)";
      default -> "";
    };
  }
}
