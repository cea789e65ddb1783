package dev.holdfast.legacy.setnx;

import dev.holdfast.core.TlsMismatch;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The reason why the server did not serve. Has no stack trace of its own: where it was seen says
 * nothing.
 */
final class NodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Error codes that need a change by an operator. All other errors may pass. */
  private static final Set<String> MISCONFIGURED =
      Set.of("NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "NOPROTO", "DENIED", "MOVED", "ASK");

  /** Redis 6 and 7: every server but a Sentinel knows the command. */
  private static final List<String> OF_SENTINEL =
      List.of("ERR unknown command `SELECT`", "ERR unknown command 'SELECT'");

  static final String SENTINEL =
      "it is a Sentinel, which holds no locks: give the master itself, redis://host:6379";

  /**
   * The beginnings of errors that have no code and show that the URL has a password or a database
   * that the server does not know.
   */
  private static final List<String> MISTAKEN =
      List.of("ERR AUTH ", "ERR Client sent AUTH", "ERR DB index", "ERR invalid DB index");

  /** The beginnings of Jedis' messages when a server ends a connection at its first command. */
  private static final List<String> ENDED = List.of("Connection reset", "Unexpected end of stream");

  /** The part of a server's message before text that may be a password. */
  private static final String ECHO = ", with args beginning with: ";

  /** The beginnings of Jedis' messages when the server is not a Redis server. */
  private static final List<String> UNREADABLE = List.of("Invalid first byte", "Unknown reply");

  private final boolean misconfigured;

  private NodeException(String message, boolean misconfigured, @Nullable Throwable cause) {
    super(cut(message), cause, false, false);
    this.misconfigured = misconfigured;
  }

  /** Returns a failure that lasts until an operator corrects it. */
  static NodeException misconfigured(String message) {
    return new NodeException(message, true, null);
  }

  /** Returns a failure that may pass. */
  static NodeException passing(String message) {
    return new NodeException(message, false, null);
  }

  /**
   * Returns a failure that explains a mistake about TLS, if there is one.
   *
   * @param failure the reason why the server could not be connected
   * @param tls whether the connection uses TLS
   * @return the explanation, or the failure itself
   */
  static RuntimeException ofConnecting(RuntimeException failure, boolean tls) {
    Optional<String> mistake = TlsMismatch.in(failure);
    if (mistake.isPresent()) {
      return new NodeException(mistake.get(), true, failure);
    }
    NodeException seen = of(failure);
    String message = String.valueOf(seen.getMessage());
    return ENDED.stream().anyMatch(message::startsWith)
        ? new NodeException(message + TlsMismatch.hint(tls), false, failure)
        : failure;
  }

  /** Returns the failure for an exception of Jedis. */
  static NodeException of(Throwable cause) {
    return of(cause, "no answer in time");
  }

  /**
   * Returns the failure for an exception of Jedis.
   *
   * @param silence the message if the server did not answer in time
   */
  static NodeException of(Throwable cause, String silence) {
    Throwable deepest = cause;
    for (Throwable at = cause; at != null; at = next(at)) {
      if (at instanceof NodeException known) {
        return known;
      }
      if (at instanceof JedisDataException) {
        return reply(String.valueOf(at.getMessage()));
      }
      deepest = at;
      String message = at.getMessage();
      if (message != null && UNREADABLE.stream().anyMatch(message::startsWith)) {
        return new NodeException(
            "no Redis server listens there, or it requires TLS (rediss://)", false, cause);
      }
    }
    if (deepest instanceof SocketTimeoutException) {
      return new NodeException(silence, false, cause);
    }
    String message = deepest.getMessage();
    return new NodeException(
        message == null ? deepest.getClass().getSimpleName() : message, false, cause);
  }

  private static String cut(String message) {
    int echo = message.indexOf(ECHO);
    return echo < 0 ? message : message.substring(0, echo);
  }

  boolean isMisconfigured() {
    return misconfigured;
  }

  private static NodeException reply(String error) {
    int end = error.indexOf(' ');
    String code = end < 0 ? error : error.substring(0, end);
    if (OF_SENTINEL.stream().anyMatch(error::startsWith)) {
      return misconfigured(SENTINEL);
    }
    boolean mistaken = MISTAKEN.stream().anyMatch(error::startsWith);
    return new NodeException(
        error + (mistaken ? " (check this node's URL)" : advice(code)),
        mistaken || MISCONFIGURED.contains(code),
        null);
  }

  /**
   * Returns the next cause. Jedis suppresses the reasons why no address of a host could be
   * connected.
   */
  private static @Nullable Throwable next(Throwable at) {
    Throwable[] suppressed = at.getSuppressed();
    return at.getCause() == null && suppressed.length > 0 ? suppressed[0] : at.getCause();
  }

  private static String advice(String code) {
    return switch (code) {
      case "NOAUTH" -> " (give redis://user:password@host:port)";
      case "WRONGPASS" -> " (check the user and password of this node's URL)";
      case "NOPERM" -> " (this user's ACL lacks a right)";
      case "READONLY" -> " (this node is a replica: give the master)";
      case "MOVED", "ASK" ->
          " (it is a node of a Redis Cluster: give a server that keeps all keys, with"
              + " cluster-enabled no)";
      case "OOM" -> " (the node's maxmemory is used up)";
      case "LOADING" -> " (the node is still reading its data)";
      default -> "";
    };
  }
}
