package dev.holdfast.redis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A Redis node, and who logs in to it: one of those that stand in a URL.
 *
 * <pre>
 * nodes = node *( "," node )
 * node  = ( "redis" / "rediss" ) "://" [ user [ ":" password ] "@" ] host [ ":" port ] [ "/" db ]
 * </pre>
 *
 * <p>Scheme and host are folded to lower case. User and password are percent-encoded where they
 * hold one of {@code @ / ? # , & % } or a character beyond ASCII. (Only a password such as {@code
 * a@b,redis://c}, not encoded, cannot be distinguished from two nodes.) Neither errors nor {@link
 * #toString} ever show a user or a password.
 *
 * @param isTls whether the scheme is {@code rediss}
 * @param host a name, or an IP address without brackets
 * @param port 6379 if none was given
 * @param database 0 if none was given
 * @param user decoded, or null if none was given
 * @param password decoded, null without a login, and empty if a user was given alone
 */
public record RedisNodeUri(
    boolean isTls,
    String host,
    int port,
    int database,
    @Nullable String user,
    @Nullable String password) {

  /**
   * Reads the nodes of a URL.
   *
   * @param url a URL that was taken apart
   * @return in the order of the URL, each host and port once, unmodifiable. Empty if the target is
   *     not addresses
   * @throws LockConfigurationException if a node is wrong. It shows the place, and the right form
   */
  public static List<RedisNodeUri> all(LockUrl url) {
    String addresses = url.addresses().orElse("");
    if (addresses.isEmpty()) {
      return List.of();
    }
    List<RedisNodeUri> nodes = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int start = 0; start <= addresses.length(); ) {
      int comma = addresses.indexOf(',', start);
      int end = comma < 0 ? addresses.length() : comma;
      if (start == end) {
        throw url.wrongAddress(
            start, end, "a node is missing here: one stands on each side of a comma");
      }
      RedisNodeUri node = new NodeParser(url, addresses, start, end).parse();
      if (!seen.add(node.server())) {
        throw url.wrongAddress(
            start,
            end,
            "this host and port was listed before: every node votes once, so list each server once");
      }
      nodes.add(node);
      start = end + 1;
    }
    return List.copyOf(nodes);
  }

  /**
   * Reads the node of a URL that is nothing but one node.
   *
   * @param url a kind of lock, and the node
   * @return the node
   * @throws LockConfigurationException if it is wrong, or there is another one, or an option
   */
  public static RedisNodeUri only(LockUrl url) {
    url.requireKnownOptions(Set.of());
    List<RedisNodeUri> nodes = all(url);
    if (nodes.size() != 1 || url.driver().isPresent()) {
      throw new LockConfigurationException(url + " is not one node: write redis://host:port");
    }
    return nodes.get(0);
  }

  /**
   * Returns the server without the database.
   *
   * @return {@code host:port}, with an IPv6 address in brackets
   */
  public String server() {
    return server(host, port);
  }

  /**
   * Returns a server as messages name it, for a driver that has no URI of it.
   *
   * @param host a name, or an IP address without brackets
   * @param port its port
   * @return {@code host:port}, with an IPv6 address in brackets
   */
  public static String server(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /**
   * Returns the node's name for logs and messages.
   *
   * @return {@code host:port}, or {@code host:port/db} if the database is not 0
   */
  public String address() {
    return address(server(), database);
  }

  /**
   * Returns a node's name for logs and messages, for a driver that has no URI of it.
   *
   * @param server {@link #server(String, int)}, or the path of a socket
   * @param database its number
   * @return the server alone, or {@code server/db} if the database is not 0
   */
  public static String address(String server, int database) {
    return database == 0 ? server : server + "/" + database;
  }

  /**
   * Returns the same login and database elsewhere.
   *
   * @param otherHost a name, or an IP address without brackets
   * @param otherPort its port
   * @return another node
   */
  public RedisNodeUri withServer(String otherHost, int otherPort) {
    return new RedisNodeUri(isTls, otherHost, otherPort, database, user, password);
  }

  /**
   * Returns another database of the same server.
   *
   * @param other its number
   * @return another node
   */
  public RedisNodeUri withDatabase(int other) {
    return new RedisNodeUri(isTls, host, port, other, user, password);
  }

  /**
   * Returns the same node for another user.
   *
   * @param otherUser the name, or null for the user without a name
   * @param otherPassword the password
   * @return another node
   */
  public RedisNodeUri withLogin(@Nullable String otherUser, String otherPassword) {
    return new RedisNodeUri(isTls, host, port, database, otherUser, otherPassword);
  }

  /**
   * Returns the URI with user and password, to be passed on and not to be logged.
   *
   * @return encoded as in a URL
   */
  public String text() {
    return text(
        (user == null ? "" : encoded(user))
            + (password == null || (user != null && password.isEmpty())
                ? ""
                : ":" + encoded(password)));
  }

  /** Returns the URI with user and password hidden, so that it is safe to log. */
  @Override
  public String toString() {
    return text(user == null && password == null ? "" : "***");
  }

  private String text(String login) {
    return (isTls ? "rediss://" : "redis://") + login + (login.isEmpty() ? "" : "@") + address();
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
