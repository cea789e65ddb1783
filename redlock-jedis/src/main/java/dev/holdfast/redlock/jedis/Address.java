package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.OpenSettings;
import java.security.GeneralSecurityException;
import java.time.Duration;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * The address of a node, and how to speak to it.
 *
 * @param server host and port
 * @param config all else
 */
record Address(HostAndPort server, JedisClientConfig config) {
  /** The client name that {@code CLIENT LIST} shows. */
  private static final String CLIENT_NAME = "holdfast";

  /**
   * Returns the address of a node.
   *
   * @param settings of which the trust and key managers are used
   */
  static Address of(RedisNodeUri node, OpenSettings settings) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .clientName(CLIENT_NAME)
            // no CLIENT SETINFO: a user may lack the right to, and the server logs each refusal
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .database(node.database());
    if (node.isTls()) {
      useTls(config, settings);
    }
    if (node.password() != null) {
      config.user(node.user()).password(node.password());
    }
    return new Address(new HostAndPort(node.host(), node.port()), config.build());
  }

  /** Uses TLS with a certificate that names the host. */
  // Jedis 8 deprecates socket factories, but its SslOptions take files alone
  @SuppressWarnings("deprecation")
  private static void useTls(DefaultJedisClientConfig.Builder config, OpenSettings settings) {
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

  boolean isTls() {
    return config.isSsl() || config.getSslOptions() != null;
  }

  /** Returns the configuration with a limit for connecting, and for each answer. */
  JedisClientConfig config(Duration limit) {
    return DefaultJedisClientConfig.builder()
        .from(config)
        .connectionTimeoutMillis(Messages.millis(limit))
        .socketTimeoutMillis(Messages.millis(limit))
        .build();
  }

  /** Returns a server for messages, never with user or password. */
  static String text(HostAndPort server) {
    return RedisNodeUri.server(server.getHost(), server.getPort());
  }

  @Override
  public String toString() {
    return RedisNodeUri.address(text(server), config.getDatabase());
  }
}
