package dev.holdfast.redis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Takes one node of a URL apart: {@link RedisNodeUri} for the grammar. */
final class NodeParser {
  private static final int DEFAULT_PORT = 6379;

  private static final int MAX_PORT = 65535;

  private static final Pattern NEXT_NODE =
      Pattern.compile("[;|\\s]rediss?://", Pattern.CASE_INSENSITIVE);

  private static final Pattern BARE_IPV6 =
      Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]+");

  /** The characters that RFC 3986 allows, except the comma, which parts nodes. */
  private static final Pattern NOT_USER_INFO = Pattern.compile("[^-A-Za-z0-9._~!$&'()*+;=:%]");

  private static final Pattern BAD_PERCENT = Pattern.compile("%(?![0-9A-Fa-f]{2})");

  private static final Pattern NOT_HOST = Pattern.compile("[^-A-Za-z0-9._]");

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

  private final LockUrl url;
  private final String text;
  private final int from;
  private final int to;

  /**
   * Parses the node in a part of a URL's addresses.
   *
   * @param text the addresses, which hold passwords
   */
  NodeParser(LockUrl url, String text, int from, int to) {
    this.url = url;
    this.text = text;
    this.from = from;
    this.to = to;
  }

  RedisNodeUri parse() {
    int colon = indexOf(':', from, to);
    String scheme = text.substring(from, colon).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("redis") || scheme.equals("rediss")) || !text.startsWith("://", colon)) {
      throw url.wrongAddress(from, Math.max(colon, from + 1), noScheme(scheme));
    }
    int authority = colon + 3;
    int slash = indexOf('/', authority, to);
    requireOneNode(authority);
    int database = database(slash);
    int at = text.substring(authority, slash).lastIndexOf('@') + authority;
    int host = at < authority ? authority : at + 1;
    String userInfo = at < authority ? "" : userInfo(authority, at);
    int hostEnd = hostEnd(host, slash);
    int port = port(hostEnd, slash);
    String name = lower(host, hostEnd);
    // URI knows no host with an underscore, which Docker's networks have
    URI uri = uri(scheme + "://" + userInfo + name.replace('_', 'x'), host, hostEnd);
    return node(uri, name, port, database);
  }

  private static RedisNodeUri node(URI uri, String host, int port, int database) {
    String login = uri.getUserInfo();
    int colon = login == null ? -1 : login.indexOf(':');
    String user = login == null || colon < 0 ? login : login.substring(0, colon);
    return new RedisNodeUri(
        uri.getScheme().equals("rediss"),
        host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
        port,
        database,
        user == null || user.isEmpty() ? null : user,
        login == null || colon < 0 ? (login == null ? null : "") : login.substring(colon + 1));
  }

  private static String noScheme(String scheme) {
    if (scheme.contains("sentinel")) {
      return "Sentinel follows one master and its replicas, and Redlock needs independent masters:"
          + " write redis://host:6379 for each master itself";
    }
    if (!scheme.isEmpty() && Character.isWhitespace(scheme.charAt(0))) {
      return "a space stands before this node: write redis://h1,redis://h2 without spaces";
    }
    return "a node starts with redis:// or rediss://; a comma inside a password is written %2C";
  }

  /** Refuses semicolons and spaces between nodes, which are usual in other lists. */
  private void requireOneNode(int authority) {
    Matcher next = NEXT_NODE.matcher(text).region(authority, to);
    if (next.find()) {
      throw url.wrongAddress(
          next.start(),
          next.end(),
          "nodes are parted by commas alone: write redis://h1,redis://h2");
    }
    if (Character.isWhitespace(text.charAt(to - 1))) {
      throw url.wrongAddress(
          to - 1,
          to,
          "a space stands behind this node: write redis://h1,redis://h2 without spaces");
    }
  }

  /** Returns the first place of a character in a part of the addresses, or the end of the part. */
  private int indexOf(char c, int start, int end) {
    int index = text.indexOf(c, start);
    return index < 0 || index > end ? end : index;
  }

  private String lower(int start, int end) {
    return text.substring(start, end).toLowerCase(Locale.ROOT);
  }

  private String userInfo(int start, int end) {
    int colon = indexOf(':', start, end);
    if (start == end || colon + 1 == end) {
      throw url.wrongAddress(
          start, end + 1, "the password is empty: leave it out, with its : and @");
    }
    if (BAD_PERCENT.matcher(text).region(start, end).find()) {
      throw badPercent(start, end);
    }
    if (NOT_USER_INFO.matcher(text).region(start, end).find()) {
      throw url.wrongAddress(
          start,
          end,
          "user or password holds a character that must be percent-encoded: write %40 for @,"
              + " %2F for /, %3F for ?, %23 for #, %2C for a comma, %25 for %");
    }
    if (!isUtf8(start, end)) {
      throw badPercent(start, end);
    }
    if (lower(start, colon).contains("%3a")) {
      throw url.wrongAddress(start, colon, "a user name cannot hold a colon");
    }
    return text.substring(start, end) + "@";
  }

  private LockConfigurationException badPercent(int start, int end) {
    return url.wrongAddress(
        start,
        end,
        "user or password is not percent-encoded UTF-8: after % come two hexadecimal digits;"
            + " write %25 for % itself");
  }

  private boolean isUtf8(int start, int end) {
    ByteBuffer bytes = ByteBuffer.allocate(end - start);
    for (int i = start; i < end; i++) {
      if (text.charAt(i) == '%') {
        bytes.put((byte) Integer.parseInt(text, i + 1, i + 3, 16));
        i += 2;
      } else {
        bytes.put((byte) text.charAt(i));
      }
    }
    try {
      StandardCharsets.UTF_8.newDecoder().decode(bytes.flip());
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  private int hostEnd(int host, int end) {
    if (host < end && text.charAt(host) == '[') {
      int bracket = indexOf(']', host, end);
      if (bracket == end) {
        throw url.wrongAddress(
            host, end, "an IPv6 address ends with a bracket: write [::1] or [::1]:6379");
      }
      return bracket + 1;
    }
    if (BARE_IPV6.matcher(text).region(host, end).matches()) {
      throw url.wrongAddress(
          host, end, "an IPv6 address stands in brackets: write redis://[::1]:6379");
    }
    int hostEnd = indexOf(':', host, end);
    if (host == hostEnd) {
      throw url.wrongAddress(host, host + 1, "a host is missing: write redis://host:6379");
    }
    Matcher wrong = NOT_HOST.matcher(text).region(host, hostEnd);
    if (wrong.find()) {
      throw url.wrongAddress(
          wrong.start(),
          wrong.end(),
          url.quotedAddress(wrong.start(), wrong.end())
              + " cannot stand in a host: it has letters, digits, -, _ and .;"
              + " an IPv6 address stands in brackets");
    }
    return hostEnd;
  }

  private int port(int start, int end) {
    if (start == end) {
      return DEFAULT_PORT;
    }
    int port = text.charAt(start) == ':' ? number(start + 1, end, MAX_PORT) : -1;
    if (port < 1) {
      throw url.wrongAddress(
          start,
          end,
          "a port is a number from 1 to 65535; if this is a password, add @host; an IPv6 address"
              + " stands in brackets");
    }
    return port;
  }

  private int database(int slash) {
    if (to - slash <= 1) {
      return 0;
    }
    int database = number(slash + 1, to, Integer.MAX_VALUE);
    if (database < 0) {
      throw url.wrongAddress(
          slash + 1,
          to,
          "after the / comes the number of a database, such as 0; a / inside a password is"
              + " written %2F");
    }
    return database;
  }

  /** Returns -1 for a text that is no number, or a number above the largest. */
  private int number(int start, int end, int max) {
    if (!NUMBER.matcher(text).region(start, end).matches()) {
      return -1;
    }
    long number = Long.parseLong(text, start, end, 10);
    return number > max ? -1 : (int) number;
  }

  /** Makes a URI. The exception of {@link URI} contains its input, so it is never a cause. */
  private URI uri(String normalised, int host, int hostEnd) {
    try {
      URI uri = new URI(normalised);
      if (uri.getHost() != null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // reported below
    }
    throw url.wrongAddress(
        host,
        hostEnd,
        url.quotedAddress(host, hostEnd)
            + " is neither the name of a host nor an IP address; an IPv6 address stands in"
            + " brackets");
  }
}
