package dev.holdfast.legacy.setnx;

import dev.holdfast.redis.ServerError;
import dev.holdfast.redis.TlsMismatch;
import java.net.SocketTimeoutException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The reason why the server did not serve. Has no stack trace of its own: where it was seen says
 * nothing.
 */
final class NodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean misconfigured;

  private NodeException(String message, boolean misconfigured, @Nullable Throwable cause) {
    super(
        ServerError.withoutArguments(message),
        ServerError.hasArguments(message) ? null : cause,
        false,
        false);
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
    return TlsMismatch.isPossible(message)
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
        ServerError error = new ServerError(String.valueOf(at.getMessage()));
        return new NodeException(error.advised(), error.isMisconfiguration(), null);
      }
      deepest = at;
      Optional<String> noRedis = TlsMismatch.ofNoRedis(String.valueOf(at.getMessage()));
      if (noRedis.isPresent()) {
        return new NodeException(noRedis.get(), false, cause);
      }
    }
    if (deepest instanceof SocketTimeoutException) {
      return new NodeException(silence, false, cause);
    }
    String message = deepest.getMessage();
    return new NodeException(
        message == null ? deepest.getClass().getSimpleName() : message, false, cause);
  }

  boolean isMisconfigured() {
    return misconfigured;
  }

  /**
   * Returns the next cause. Jedis suppresses the reasons why no address of a host could be
   * connected.
   */
  private static @Nullable Throwable next(Throwable at) {
    Throwable[] suppressed = at.getSuppressed();
    return at.getCause() == null && suppressed.length > 0 ? suppressed[0] : at.getCause();
  }
}
