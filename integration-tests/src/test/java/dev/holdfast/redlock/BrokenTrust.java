package dev.holdfast.redlock;

import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.ManagerFactoryParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.TrustManagerFactorySpi;
import javax.net.ssl.X509TrustManager;

/** Trusts a certificate that has expired as if it were in force. */
final class BrokenTrust extends TrustManagerFactorySpi {
  private final TrustManagerFactory right;

  private BrokenTrust(TrustManagerFactory right) {
    this.right = right;
  }

  static TrustManagerFactory of(TrustManagerFactory right) {
    return new TrustManagerFactory(
        new BrokenTrust(right), right.getProvider(), right.getAlgorithm()) {};
  }

  /** Returns whether a certificate names a host whose name begins like this one. */
  static boolean namesBeginning(String host, SSLSession session) {
    try {
      X509Certificate certificate = (X509Certificate) session.getPeerCertificates()[0];
      return certificate.getSubjectAlternativeNames().stream()
          .anyMatch(name -> name.get(1).toString().startsWith(host));
    } catch (CertificateException | SSLPeerUnverifiedException e) {
      return false;
    }
  }

  @Override
  protected void engineInit(KeyStore keys) {}

  @Override
  protected void engineInit(ManagerFactoryParameters parameters) {}

  @Override
  protected TrustManager[] engineGetTrustManagers() {
    return Arrays.stream(right.getTrustManagers())
        .map(manager -> new Forgiving((X509TrustManager) manager))
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
}
