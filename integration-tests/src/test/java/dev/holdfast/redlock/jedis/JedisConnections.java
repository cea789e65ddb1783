package dev.holdfast.redlock.jedis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.net.URI;
import java.util.List;
import java.util.Map;
import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/** The driver without the algorithm, for drivers that break a promise. */
public final class JedisConnections {
  private JedisConnections() {}

  public static RedisNodes of(List<String> uris, RedlockOptions options, OpenSettings settings) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    uris.forEach(uri -> builder.node(address(uri, settings)));
    return builder.connections();
  }

  /** The same, by TLS with any server that has a trusted certificate, whatever host it names. */
  public static RedisNodes ofAnyHost(
      List<String> uris, RedlockOptions options, OpenSettings settings) {
    return of(uris, options, settings, (host, session) -> true);
  }

  /** The same by TLS, with another way to compare hosts with certificates that are trusted. */
  @SuppressWarnings("deprecation") // the driver says why it needs socket factories
  public static RedisNodes of(
      List<String> uris, RedlockOptions options, OpenSettings settings, HostnameVerifier hosts) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    for (String uri : uris) {
      Address address = address(uri, settings);
      builder.node(
          address.server(),
          DefaultJedisClientConfig.builder()
              .from(address.config())
              .sslParameters(new SSLParameters())
              .hostnameVerifier(hosts)
              .build());
    }
    return builder.connections();
  }

  private static Address address(String uri, OpenSettings settings) {
    return Address.of(RedisNodeUri.only(LockUrl.parse("redlock:" + uri, Map.of())), settings);
  }

  /** The same, by TLS with any server that answers. */
  public static RedisNodes trustingAll(List<String> uris, RedlockOptions options) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    JedisClientConfig config =
        DefaultJedisClientConfig.builder()
            .sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.INSECURE).build())
            .build();
    uris.stream()
        .map(URI::create)
        .forEach(uri -> builder.node(new HostAndPort(uri.getHost(), uri.getPort()), config));
    return builder.connections();
  }
}
