package dev.holdfast.tck.rules;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Locale;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Certificates of servers. No client has reason to trust them unless it is given them: the keys are
 * public, in this jar, and encrypted by one iteration alone. All but one sign themselves, and are
 * in force until 2126. {@code keytool -genkeypair -keyalg EC -ext san=dns:NAME} made them.
 */
enum TestCertificate {
  /** A certificate for 127.0.0.1 that no client trusts. */
  UNTRUSTED,
  /** A certificate for {@code localhost}, and for no other name or address. */
  LOCALHOST,
  /**
   * A certificate for {@code localhost.elsewhere.invalid}, {@code notlocalhost}, {@code local} and
   * {@code elsewhere.invalid}. Its subject is {@code localhost}, which does not count beside them.
   */
  ELSEWHERE,
  /**
   * A certificate for {@code localhost} that was in force in 2020. An authority signed it, because
   * Java trusts a certificate that it is given itself, whatever its dates.
   */
  EXPIRED;

  private static final char[] PASSWORD = "untrusted".toCharArray();

  /** Returns what shows this certificate. */
  KeyManagerFactory keyManagers() {
    return made(
        () -> {
          KeyManagerFactory factory =
              KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
          factory.init(keys(), PASSWORD);
          return factory;
        });
  }

  /** Returns a factory that trusts these certificates alone, or the authority that signed them. */
  static TrustManagerFactory trusting(TestCertificate... certificates) {
    return made(
        () -> {
          KeyStore trusted = KeyStore.getInstance("PKCS12");
          trusted.load(null, null);
          for (TestCertificate each : certificates) {
            KeyStore keys = each.keys();
            Certificate[] chain = keys.getCertificateChain(keys.aliases().nextElement());
            trusted.setCertificateEntry(each.name(), chain[chain.length - 1]);
          }
          TrustManagerFactory factory =
              TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
          factory.init(trusted);
          return factory;
        });
  }

  /** Returns what a server has that shows this certificate, and trusts clients that show one. */
  SSLContext ofServer(TestCertificate... ofClients) {
    return made(
        () -> {
          SSLContext context = SSLContext.getInstance("TLS");
          context.init(
              keyManagers().getKeyManagers(), trusting(ofClients).getTrustManagers(), null);
          return context;
        });
  }

  private KeyStore keys() {
    String file = name().toLowerCase(Locale.ROOT) + ".p12";
    return made(
        () -> {
          try (InputStream in = TestCertificate.class.getResourceAsStream(file)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(Objects.requireNonNull(in, file), PASSWORD);
            return keys;
          }
        });
  }

  private interface Maker<T> {
    T make() throws GeneralSecurityException, IOException;
  }

  private static <T> T made(Maker<T> maker) {
    try {
      return maker.make();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JVM cannot speak TLS", e);
    }
  }
}
