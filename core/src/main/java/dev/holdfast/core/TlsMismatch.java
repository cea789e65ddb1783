package dev.holdfast.core;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Optional;

/** Mistakes about TLS, by what drivers throw when they connect. For backends over the network. */
public final class TlsMismatch {
  /** First byte of an alert, with which a server of TLS answers a client that speaks none. */
  private static final String ALERT = "\u0015";

  private TlsMismatch() {}

  /**
   * Recognises a mistake that only a person can correct.
   *
   * @param failure why a server could not be connected
   * @return the mistake and its correction, or empty if TLS is not the cause
   */
  public static Optional<String> in(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
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
