package dev.holdfast.tck.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URLDecoder;

/**
 * A node, and who logs in to it.
 *
 * @param login as in the URI, with its {@code @}; empty if nobody does
 * @param path the database, with its slash; empty for the first
 */
record NodeUri(String login, String host, int port, String path) {
  private static final int DEFAULT_PORT = 6379;

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if the kit cannot talk to it
   */
  static NodeUri parse(String text) {
    URI uri = URI.create(text);
    if (!"redis".equals(uri.getScheme()) || uri.getHost() == null) {
      throw new IllegalArgumentException(
          "the kit looks at nodes by redis://[user[:password]@]host[:port][/db] only, not by "
              + uri.getScheme()
              + "://"
              + uri.getHost());
    }
    String login = uri.getRawUserInfo() == null ? "" : uri.getRawUserInfo() + "@";
    int port = uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort();
    String path = uri.getPath().length() > 1 ? uri.getPath() : "";
    return new NodeUri(login, uri.getHost(), port, path);
  }

  /** The same login and database elsewhere. */
  NodeUri at(String otherHost, int otherPort) {
    return new NodeUri(login, otherHost, otherPort, path);
  }

  /** The same node for another user. */
  NodeUri as(String user, String password) {
    return new NodeUri(user + ":" + password + "@", host, port, path);
  }

  String address() {
    return host + ":" + port;
  }

  String user() {
    String name = login.isEmpty() ? "" : login.substring(0, beforePassword());
    return name.isEmpty() ? "default" : decoded(name);
  }

  /** Empty if there is none. */
  String password() {
    boolean has = !login.isEmpty() && login.charAt(beforePassword()) == ':';
    return has ? decoded(login.substring(beforePassword() + 1, login.length() - 1)) : "";
  }

  int database() {
    return path.isEmpty() ? 0 : Integer.parseInt(path.substring(1));
  }

  /** With the password, as managers need it. */
  String text() {
    return "redis://" + login + address() + path;
  }

  @Override
  public String toString() {
    return "redis://" + address() + path;
  }

  private int beforePassword() {
    int colon = login.indexOf(':');
    return colon < 0 ? login.length() - 1 : colon;
  }

  private static String decoded(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), UTF_8);
  }
}
