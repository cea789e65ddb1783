package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.core.TlsMismatch;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reason why one node did not vote. It has no stack trace, because the place where it was seen
 * says nothing.
 */
public final class NodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Error codes of faults that only a person can correct. Errors with other codes may pass. */
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
   * Beginnings of the errors of a Sentinel. Drivers send {@code SELECT} first, and on Redis 6 and 7
   * every other server knows it.
   */
  private static final List<String> OF_SENTINEL =
      List.of("ERR unknown command `SELECT`", "ERR unknown command 'SELECT'");

  private static final String CONNECTION_ENDED = "the connection ended";

  /** Beginnings of the messages of drivers if one side speaks TLS and the other does not. */
  private static final List<String> ENDED =
      List.of(
          "Connection reset",
          "Unexpected end of stream",
          "Connection closed",
          CONNECTION_ENDED,
          "handshake timed out"); // netty's, after 10 s of its own

  public static final String SENTINEL =
      "it is a Sentinel, which holds no locks: list the masters themselves, redis://host:6379 each";

  static final String CLUSTER =
      "it is a node of a Redis Cluster, which moves keys from node to node: list independent"
          + " masters, with cluster-enabled no";

  /** The words after which an error may repeat a password. */
  private static final String ECHO = ", with args beginning with: ";

  /** Beginnings of the messages of Lettuce, Jedis and Redisson if no Redis server answers. */
  private static final List<String> UNREADABLE =
      List.of("Invalid first byte", "Unknown reply", "Can't decode replay");

  /** The code of the error with which a node refuses clients that do not fit its guard record. */
  public static final String FOREIGN = "GUARDED";

  private static final Pattern FOREIGN_TERMS =
      Pattern.compile("(?s)" + FOREIGN + " (\\d+) (\\d+) (.*)");

  private final Kind kind;
  private final @Nullable Quarantine quarantine;

  private enum Kind {
    /** A failure that may pass. */
    PASSING,
    /** A failure that a person must correct, at the node or in its URL. */
    MISCONFIGURED,
    /** A misconfiguration with which it would be wrong to go on without the node. */
    VETO
  }

  private NodeException(
      String message, Kind kind, @Nullable Quarantine quarantine, @Nullable Throwable cause) {
    super(cut(message), message.contains(ECHO) ? null : cause, false, false);
    this.kind = kind;
    this.quarantine = quarantine;
  }

  private NodeException(String message, boolean misconfigured, @Nullable Throwable cause) {
    this(message, misconfigured ? Kind.MISCONFIGURED : Kind.PASSING, null, cause);
  }

  /** Makes the cause of an error reply. */
  public static NodeException reply(String error) {
    int end = error.indexOf(' ');
    String code = end < 0 ? error : error.substring(0, end);
    if (code.equals(FOREIGN)) {
      return foreign(error);
    }
    if (OF_SENTINEL.stream().anyMatch(error::startsWith)) {
      return misconfigured(SENTINEL);
    }
    boolean mistaken = MISTAKEN.stream().anyMatch(error::startsWith);
    return new NodeException(
        error + (mistaken ? " (check this node's URL)" : advice(code)),
        mistaken || MISCONFIGURED.contains(code),
        null);
  }

  /** Makes a cause that only a person can correct. */
  public static NodeException misconfigured(String message) {
    return new NodeException(message, true, null);
  }

  /** Makes a cause that makes the whole attempt wrong, whatever other nodes say. */
  static NodeException veto(String message) {
    return new NodeException(message, Kind.VETO, null, null);
  }

  /** Makes the cause of a node in quarantine. */
  public static NodeException of(Quarantine quarantine) {
    return new NodeException(quarantine.toString(), Kind.PASSING, quarantine, null);
  }

  /** Makes a cause that may pass. */
  public static NodeException passing(String message) {
    return new NodeException(message, false, null);
  }

  /** Makes the cause of a node that let the deadline of a round pass. */
  public static NodeException noAnswerWithin(long nanos) {
    return passing("no answer within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
  }

  /** Makes the cause of a connection that ended. */
  public static NodeException ended() {
    return passing(CONNECTION_ENDED);
  }

  /**
   * Makes the cause of a failure to connect.
   *
   * @param tls whether the node is spoken to by TLS
   */
  static NodeException ofConnecting(Throwable cause, boolean tls) {
    NodeException seen = of(cause);
    Optional<String> mistake = TlsMismatch.in(cause);
    if (mistake.isPresent()) {
      return new NodeException(mistake.get(), true, cause);
    }
    String message = String.valueOf(seen.getMessage());
    return ENDED.stream().anyMatch(message::startsWith)
        ? new NodeException(message + TlsMismatch.hint(tls), false, cause)
        : seen;
  }

  /** Makes a cause of the reason that a driver gives. */
  public static NodeException of(Throwable cause) {
    Throwable deepest = cause;
    for (Throwable at = cause; at != null; at = at.getCause()) {
      if (at instanceof NodeException known) {
        return known;
      }
      if (at instanceof LockConfigurationException) {
        return misconfigured(String.valueOf(at.getMessage()));
      }
      deepest = at;
      String message = at.getMessage();
      if (message != null && isReplyOfMistake(message)) {
        return reply(message);
      }
      if (message != null && UNREADABLE.stream().anyMatch(message::startsWith)) {
        return new NodeException(
            "no Redis server listens there, or it requires TLS (rediss://)", false, cause);
      }
    }
    return new NodeException(wordsOf(deepest), false, cause);
  }

  /** Returns the message, or what an exception without a message says by its class. */
  private static String wordsOf(Throwable cause) {
    String message = cause.getMessage();
    if (message != null) {
      return message;
    }
    return cause instanceof ClosedChannelException
        ? CONNECTION_ENDED
        : cause.getClass().getSimpleName();
  }

  private static boolean isReplyOfMistake(String message) {
    return MISCONFIGURED.stream().anyMatch(code -> message.startsWith(code + " "))
        || OF_SENTINEL.stream().anyMatch(message::startsWith)
        || MISTAKEN.stream().anyMatch(message::startsWith);
  }

  /**
   * Makes the cause of an error with the code {@link #FOREIGN}: the guard record is that of other
   * clients.
   */
  public static NodeException foreign(String error) {
    Matcher found = FOREIGN_TERMS.matcher(error);
    return veto(
        found.matches()
            ? "its clients gave maxTtl="
                + found.group(1)
                + "ms, "
                + found.group(2)
                + " nodes and cluster='"
                + found.group(3)
                + "': give the same, or other nodes"
            : error);
  }

  private static String cut(String message) {
    int echo = message.indexOf(ECHO);
    return echo < 0 ? message : message.substring(0, echo);
  }

  public boolean isMisconfigured() {
    return kind != Kind.PASSING;
  }

  public boolean isVeto() {
    return kind == Kind.VETO;
  }

  /** Returns the quarantine that is the cause, or null if it is not. */
  @Nullable
  public Quarantine quarantine() {
    return quarantine;
  }

  private static String advice(String code) {
    return switch (code) {
      case "NOAUTH" -> " (give redis://user:password@host:port)";
      case "WRONGPASS" -> " (check the user and password of this node's URL)";
      case "NOPERM" -> " (this user's ACL lacks a right)";
      case "READONLY" -> " (this node is a replica: list masters only)";
      case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN" -> " (" + CLUSTER + ")";
      case "OOM" -> " (the node's maxmemory is used up)";
      case "LOADING" -> " (the node is still reading its data)";
      default -> "";
    };
  }
}
