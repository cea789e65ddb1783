package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.OpenSettings;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/** The settings of connections with TLS. The certificate must name the host. */
final class Tls {
  private Tls() {}

  // Jedis 8 deprecates socket factories, but its SslOptions take files alone
  @SuppressWarnings("deprecation")
  static void apply(OpenSettings settings, DefaultJedisClientConfig.Builder config) {
    if (settings.trustManagers().isEmpty() && settings.keyManagers().isEmpty()) {
      // said, because before Jedis 8 the host's name is not verified by default
      config.sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build());
      return;
    }
    SSLParameters parameters = new SSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    config.ssl(true).sslSocketFactory(context(settings).getSocketFactory());
    config.sslParameters(parameters);
  }

  private static SSLContext context(OpenSettings settings) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          settings.keyManagers().map(KeyManagerFactory::getKeyManagers).orElse(null),
          settings.trustManagers().map(TrustManagerFactory::getTrustManagers).orElse(null),
          null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new LockConfigurationException(
          "the trust and key managers cannot be used for TLS: " + e.getMessage(), e);
    }
  }
}
