package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.Causes;
import dev.holdfast.redis.ServerError;
import dev.holdfast.redis.TlsMismatch;
import java.nio.channels.ClosedChannelException;
import java.util.Optional;
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

  private static final String CONNECTION_ENDED = "the connection ended";

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
    super(
        ServerError.withoutArguments(message),
        ServerError.hasArguments(message) ? null : DriverError.of(cause), // it has the same message
        false,
        false);
    this.kind = kind;
    this.quarantine = quarantine;
  }

  private NodeException(String message, boolean misconfigured, @Nullable Throwable cause) {
    this(message, misconfigured ? Kind.MISCONFIGURED : Kind.PASSING, null, cause);
  }

  /** Makes the cause of an error reply. */
  public static NodeException reply(String text) {
    ServerError error = new ServerError(text);
    return error.code().equals(FOREIGN)
        ? foreign(text)
        : new NodeException(error.advised(), error.isMisconfiguration(), null);
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
    Optional<String> mistake = TlsMismatch.in(cause);
    if (mistake.isPresent()) {
      return new NodeException(mistake.get(), true, cause);
    }
    NodeException seen = of(cause);
    String message = String.valueOf(seen.getMessage());
    return message.equals(CONNECTION_ENDED) || TlsMismatch.isPossible(message)
        ? new NodeException(message + TlsMismatch.hint(tls), false, cause)
        : seen;
  }

  /** Makes a cause of the reason that a driver gives. */
  public static NodeException of(Throwable cause) {
    Throwable deepest = cause;
    for (Throwable at : Causes.of(cause)) {
      if (at instanceof NodeException known) {
        return known;
      }
      if (at instanceof LockConfigurationException) {
        return misconfigured(String.valueOf(at.getMessage()));
      }
      deepest = at;
      String message = String.valueOf(at.getMessage());
      if (new ServerError(message).isMisconfiguration()) {
        return reply(message);
      }
      Optional<String> noRedis = TlsMismatch.ofNoRedis(message);
      if (noRedis.isPresent()) {
        return new NodeException(noRedis.get(), false, cause);
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
}
