package dev.holdfast.redlock;

import java.net.Socket;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.ManagerFactoryParameters;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.TrustManagerFactorySpi;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;

/** Trusts certificates that a right one does not trust. */
final class BrokenTrust extends TrustManagerFactorySpi {
  private final TrustManagerFactory right;
  private final Function<X509TrustManager, TrustManager> broken;

  private BrokenTrust(TrustManagerFactory right, Function<X509TrustManager, TrustManager> broken) {
    this.right = right;
    this.broken = broken;
  }

  /** Makes one that trusts a certificate that has expired as if it were in force. */
  static TrustManagerFactory forever(TrustManagerFactory right) {
    return of(right, Forgiving::new);
  }

  /** Makes one that also trusts a certificate for a longer name that begins with the host. */
  static TrustManagerFactory ofBeginnings(TrustManagerFactory right) {
    return of(right, Beginnings::new);
  }

  private static TrustManagerFactory of(
      TrustManagerFactory right, Function<X509TrustManager, TrustManager> broken) {
    return new TrustManagerFactory(
        new BrokenTrust(right, broken), right.getProvider(), right.getAlgorithm()) {};
  }

  @Override
  protected void engineInit(KeyStore keys) {}

  @Override
  protected void engineInit(ManagerFactoryParameters parameters) {}

  @Override
  protected TrustManager[] engineGetTrustManagers() {
    return Arrays.stream(right.getTrustManagers())
        .map(manager -> broken.apply((X509TrustManager) manager))
        .toArray(TrustManager[]::new);
  }

  private record Forgiving(X509TrustManager right) implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      right.checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      try {
        right.checkServerTrusted(chain, type);
      } catch (CertificateException e) {
        for (Throwable cause = e; !(cause instanceof CertificateExpiredException); ) {
          cause = cause.getCause();
          if (cause == null) {
            throw e;
          }
        }
      }
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return right.getAcceptedIssuers();
    }
  }

  /** Compares hosts itself, for connections that leave it to nothing else. */
  private static final class Beginnings extends X509ExtendedTrustManager {
    private static final int DNS_NAME = 2;

    private final X509TrustManager right;

    Beginnings(X509TrustManager right) {
      this.right = right;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      right.checkServerTrusted(chain, type);
      String host = ((SSLSocket) socket).getHandshakeSession().getPeerHost();
      if (names(chain[0]).noneMatch(name -> name.startsWith(host))) {
        throw new CertificateException("it does not name " + host);
      }
    }

    private static Stream<String> names(X509Certificate certificate) throws CertificateException {
      return certificate.getSubjectAlternativeNames().stream()
          .filter(name -> name.get(0).equals(DNS_NAME))
          .map(name -> (String) name.get(1));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      right.checkServerTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      right.checkServerTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      right.checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      right.checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      right.checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return right.getAcceptedIssuers();
    }
  }
}
