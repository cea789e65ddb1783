package dev.holdfast.redis;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.Optional;

/**
 * Mistakes about TLS, by the exceptions of Lettuce, Jedis, Redisson and the JDK when they connect.
 * The messages of these clients are known here alone.
 */
public final class TlsMismatch {
  /** First byte of an alert, with which a server of TLS answers a client that speaks none. */
  private static final String ALERT = "\u0015";

  /** Beginnings of messages if a server sent no reply of Redis. */
  private static final List<String> UNREADABLE =
      List.of("Invalid first byte", "Unknown reply", "Can't decode replay");

  /** Beginnings of messages if a server ended the connection, or said nothing. */
  private static final List<String> ENDED =
      List.of(
          "Connection reset",
          "Unexpected end of stream",
          "Connection closed",
          "handshake timed out"); // netty's, after 10 s of its own

  private TlsMismatch() {}

  /**
   * Recognises a mistake that only a person can correct.
   *
   * @param failure why a server could not be connected
   * @return the mistake and its correction, or empty if TLS is not the cause
   */
  public static Optional<String> in(Throwable failure) {
    for (Throwable at : Causes.of(failure)) {
      String message = String.valueOf(at.getMessage());
      Optional<String> mistake = withTls(at).or(() -> withoutTls(message));
      if (mistake.isPresent()) {
        return mistake;
      }
    }
    return Optional.empty();
  }

  /**
   * Tells what may be wrong with TLS where a server ends a connection, or says nothing on it.
   *
   * @param tls whether it was spoken to by TLS
   * @return what to try, in parentheses, with a space before
   */
  public static String hint(boolean tls) {
    return tls
        ? " (if this port speaks no TLS, write redis:// for rediss://)"
        : " (if this port speaks TLS, write rediss:// for redis://)";
  }

  /**
   * Recognises a client's message that a server sent no reply of Redis.
   *
   * @param message of one exception, not of its causes
   * @return the reason, or empty if the message says something else
   */
  public static Optional<String> ofNoRedis(String message) {
    return UNREADABLE.stream().anyMatch(message::startsWith)
        ? Optional.of("no Redis server listens there, or it requires TLS (rediss://)")
        : Optional.empty();
  }

  /**
   * Recognises a client's message that a server ended the connection, or said nothing, as it does
   * if one side speaks TLS and the other does not.
   *
   * @param message of one exception, not of its causes
   * @return whether {@link #hint} may help
   */
  public static boolean isPossible(String message) {
    return ENDED.stream().anyMatch(message::startsWith);
  }

  private static Optional<String> withTls(Throwable at) {
    String message = String.valueOf(at.getMessage());
    if (at instanceof CertificateExpiredException
        || at instanceof CertificateNotYetValidException) {
      return Optional.empty();
    }
    if (at instanceof CertPathBuilderException) {
      return Optional.of(
          "this JVM does not trust the authority of its certificate ("
              + message
              + "): add the authority to the trust store, -Djavax.net.ssl.trustStore=…, or give a"
              + " client of your own that trusts it");
    }
    if (at instanceof CertificateException && at.getCause() == null) {
      return Optional.of(
          "its certificate does not fit ("
              + message
              + "): write the host as the certificate names it, or have the server show another");
    }
    return message.contains("not an SSL/TLS record")
            || message.contains("Unsupported or unrecognized SSL message")
        ? Optional.of("it speaks no TLS on this port: write redis:// for rediss://")
        : Optional.empty();
  }

  private static Optional<String> withoutTls(String message) {
    return message.startsWith("Invalid first byte: 21 ")
            || message.startsWith("Unknown reply: " + ALERT)
            || message.startsWith("Can't decode replay: " + ALERT)
        ? Optional.of("it speaks TLS on this port: write rediss:// for redis://")
        : Optional.empty();
  }
}
