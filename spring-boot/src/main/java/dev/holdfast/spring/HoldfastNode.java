package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** A Redis server on which locks are kept, and how to reach it. Immutable. */
public final class HoldfastNode {
  private static final Pattern HOST = Pattern.compile("[-A-Za-z0-9._]+|\\[?[0-9A-Fa-f:.]+]?");

  private final String host;
  private final int port;
  private final @Nullable String username;
  private final @Nullable String password;
  private final int database;
  private final boolean tls;
  private final @Nullable SslBundle sslBundle;

  private HoldfastNode(
      String host,
      int port,
      @Nullable String username,
      @Nullable String password,
      int database,
      boolean tls,
      @Nullable SslBundle sslBundle) {
    this.host = host;
    this.port = port;
    this.username = username;
    this.password = password;
    this.database = database;
    this.tls = tls;
    this.sslBundle = sslBundle;
  }

  /**
   * Returns a node without login and TLS, and with database 0.
   *
   * @param host a name or an IP address
   * @param port 1 to 65535
   * @return a node
   * @throws LockConfigurationException if the host has other characters than names and addresses
   */
  public static HoldfastNode of(String host, int port) {
    if (!HOST.matcher(Objects.requireNonNull(host, "host")).matches()) {
      // without the text, which may be a URL with a password
      throw new LockConfigurationException(
          "a host is the name or the IP address of a server, and nothing else; set port, username,"
              + " password and ssl.enabled by their own keys");
    }
    return new HoldfastNode(host, port, null, null, 0, false, null);
  }

  /**
   * Sets the login.
   *
   * @param user null or empty for the default user
   * @param secret the password, or null or empty for no login
   * @return a new node
   */
  public HoldfastNode login(@Nullable String user, @Nullable String secret) {
    return new HoldfastNode(
        host, port, emptyToNull(user), emptyToNull(secret), database, tls, sslBundle);
  }

  /**
   * Sets the database.
   *
   * @param number 0 or more
   * @return a new node
   */
  public HoldfastNode database(int number) {
    return new HoldfastNode(host, port, username, password, number, tls, sslBundle);
  }

  /**
   * Uses TLS.
   *
   * @param bundle the authorities to trust and the own certificate, or null for those of the JVM
   * @return a new node
   */
  public HoldfastNode tls(@Nullable SslBundle bundle) {
    return new HoldfastNode(host, port, username, password, database, true, bundle);
  }

  private static @Nullable String emptyToNull(@Nullable String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  boolean isTls() {
    return tls;
  }

  Optional<SslBundle> sslBundle() {
    return Optional.ofNullable(sslBundle);
  }

  /** Returns the node as it stands in a URL, with its password: not to be logged. */
  String uri() {
    return (tls ? "rediss://" : "redis://") + userInfo() + address();
  }

  private String userInfo() {
    if (password == null) {
      return "";
    }
    return (username == null ? "" : encoded(username)) + ":" + encoded(password) + "@";
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private String address() {
    boolean isBareIpv6 = host.contains(":") && !host.startsWith("[");
    return (isBareIpv6 ? "[" + host + "]" : host)
        + ":"
        + port
        + (database == 0 ? "" : "/" + database);
  }

  /** Returns the address, without login. */
  @Override
  public String toString() {
    return address();
  }
}
