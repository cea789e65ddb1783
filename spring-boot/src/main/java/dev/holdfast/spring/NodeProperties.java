package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * The keys of a node, with the names of Spring Boot's keys for Redis.
 *
 * @param host Name or IP address of the Redis server.
 * @param port Port of the Redis server.
 * @param username User of the Redis server. Without it, the default user logs in.
 * @param password Password of the user.
 * @param database Number of the database.
 * @param ssl Encryption of the connection.
 */
record NodeProperties(
    @Nullable String host,
    @DefaultValue("6379") int port,
    @Nullable String username,
    @Nullable String password,
    @DefaultValue("0") int database,
    @DefaultValue Ssl ssl) {
  private static final int MAX_PORT = 65535;

  /**
   * The keys of the encryption.
   *
   * @param enabled Whether to use TLS. Defaults to true if there is a bundle.
   * @param bundle Name of the SSL bundle with the authorities to trust.
   */
  record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {
    boolean isUsed() {
      return enabled == null ? bundle != null : enabled;
    }
  }

  /**
   * Returns the node.
   *
   * @param key the node's key, for messages
   * @throws LockConfigurationException with the name of the key, if it is missing or wrong
   */
  HoldfastNode node(String key, @Nullable SslBundles bundles) {
    if (host == null || host.isBlank()) {
      throw new LockConfigurationException(
          key + ".host is missing; set it to the name or the address of a Redis server");
    }
    boolean hasUser = username != null && !username.isEmpty();
    if (hasUser && (password == null || password.isEmpty())) {
      throw new LockConfigurationException(
          key + ".username is set without a password; set " + key + ".password");
    }
    requireRange(key + ".port", port, 1, MAX_PORT);
    requireRange(key + ".database", database, 0, Integer.MAX_VALUE);
    HoldfastNode node = address(key, host.strip()).login(username, password).database(database);
    return ssl.isUsed() ? node.tls(bundle(key + ".ssl.bundle", bundles)) : node;
  }

  private static void requireRange(String key, int value, int min, int max) {
    if (value < min || value > max) {
      String range = max == Integer.MAX_VALUE ? min + " or more" : min + " to " + max;
      throw new LockConfigurationException(key + " is " + value + "; set it to " + range);
    }
  }

  private HoldfastNode address(String key, String server) {
    try {
      return HoldfastNode.of(server, port);
    } catch (LockConfigurationException e) {
      throw new LockConfigurationException(key + ".host: " + e.getMessage(), e);
    }
  }

  private @Nullable SslBundle bundle(String key, @Nullable SslBundles bundles) {
    if (ssl.bundle() == null) {
      return null;
    }
    try {
      if (bundles != null) {
        return bundles.getBundle(ssl.bundle());
      }
    } catch (NoSuchSslBundleException e) {
      throw noBundle(key, e);
    }
    throw noBundle(key, null);
  }

  private LockConfigurationException noBundle(String key, @Nullable Exception cause) {
    String name = ssl.bundle();
    return new LockConfigurationException(
        key
            + " is '"
            + name
            + "', but there is no such SSL bundle; define spring.ssl.bundle.pem."
            + name
            + " or spring.ssl.bundle.jks."
            + name,
        cause);
  }

  /** Leaves out the login. */
  @Override
  public String toString() {
    return host + ":" + port;
  }
}
