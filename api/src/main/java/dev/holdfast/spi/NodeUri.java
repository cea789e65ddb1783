package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One node of a URL: {@code redis://[user[:password]@]host[:port][/db]}, or {@code rediss://}. */
final class NodeUri {
  static final int DEFAULT_PORT = 6379;

  private static final int MAX_PORT = 65535;

  private static final Pattern NEXT_NODE =
      Pattern.compile("[;|\\s]rediss?://", Pattern.CASE_INSENSITIVE);

  private static final Pattern BARE_IPV6 =
      Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]+");

  private final ShownText text;
  private final int from;
  private final int to;

  private NodeUri(ShownText text, int from, int to) {
    this.text = text;
    this.from = from;
    this.to = to;
  }

  /** The node that stands in a part of a text, with its port. */
  static URI parse(ShownText text, int from, int to) {
    return new NodeUri(text, from, to).parse();
  }

  private URI parse() {
    int colon = Chars.firstOf(":", text.raw(), from, to);
    String scheme = text.raw().substring(from, colon).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("redis") || scheme.equals("rediss"))
        || !text.raw().startsWith("://", colon)) {
      throw text.error(from, Math.max(colon, from + 1), noScheme(scheme));
    }
    int authority = colon + 3;
    int slash = Chars.firstOf("/", text.raw(), authority, to);
    requireOneNode(authority);
    String database = database(slash);
    int at = text.raw().substring(authority, slash).lastIndexOf('@') + authority;
    int host = at < authority ? authority : at + 1;
    String userInfo = at < authority ? "" : userInfo(authority, at);
    int hostEnd = hostEnd(host, slash);
    int port = port(hostEnd, slash);
    return uri(
        scheme + "://" + userInfo + lower(host, hostEnd) + ":" + port + database, host, hostEnd);
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

  /** Other lists are parted by semicolons or spaces. */
  private void requireOneNode(int authority) {
    Matcher next = NEXT_NODE.matcher(text.raw()).region(authority, to);
    if (next.find()) {
      throw text.error(
          next.start(),
          next.end(),
          "nodes are parted by commas alone: write redis://h1,redis://h2");
    }
    if (Character.isWhitespace(text.at(to - 1))) {
      throw text.error(
          to - 1,
          to,
          "a space stands behind this node: write redis://h1,redis://h2 without spaces");
    }
  }

  private String lower(int start, int end) {
    return text.raw().substring(start, end).toLowerCase(Locale.ROOT);
  }

  private String userInfo(int start, int end) {
    int colon = Chars.firstOf(":", text.raw(), start, end);
    if (start == end || colon + 1 == end) {
      throw text.error(start, end + 1, "the password is empty: leave it out, with its : and @");
    }
    for (int i = start; i < end; i++) {
      char c = text.at(i);
      if (c == '%' && !Chars.isHexPair(text.raw(), i + 1, end)) {
        throw badPercent(start, end);
      }
      if (c != '%' && !Chars.isUserInfo(c)) {
        throw text.error(
            start,
            end,
            "user or password holds a character that must be percent-encoded: write %40 for @,"
                + " %2F for /, %3F for ?, %23 for #, %2C for a comma, %25 for %");
      }
    }
    if (!isUtf8(start, end)) {
      throw badPercent(start, end);
    }
    if (lower(start, colon).contains("%3a")) {
      throw text.error(start, colon, "a user name cannot hold a colon");
    }
    return text.raw().substring(start, end) + "@";
  }

  private LockConfigurationException badPercent(int start, int end) {
    return text.error(
        start,
        end,
        "user or password is not percent-encoded UTF-8: after % come two hexadecimal digits;"
            + " write %25 for % itself");
  }

  private boolean isUtf8(int start, int end) {
    ByteBuffer bytes = ByteBuffer.allocate(end - start);
    for (int i = start; i < end; i++) {
      if (text.at(i) == '%') {
        bytes.put((byte) Integer.parseInt(text.raw(), i + 1, i + 3, 16));
        i += 2;
      } else {
        bytes.put((byte) text.at(i));
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
    if (host < end && text.at(host) == '[') {
      int bracket = Chars.firstOf("]", text.raw(), host, end);
      if (bracket == end) {
        throw text.error(
            host, end, "an IPv6 address ends with a bracket: write [::1] or [::1]:6379");
      }
      return bracket + 1;
    }
    if (BARE_IPV6.matcher(text.raw()).region(host, end).matches()) {
      throw text.error(host, end, "an IPv6 address stands in brackets: write redis://[::1]:6379");
    }
    int hostEnd = Chars.firstOf(":", text.raw(), host, end);
    if (host == hostEnd) {
      throw text.error(host, host + 1, "a host is missing: write redis://host:6379");
    }
    for (int i = host; i < hostEnd; i++) {
      if (!Chars.isHost(text.at(i))) {
        throw text.error(
            i,
            i + 1,
            text.quoted(i, i + 1)
                + " cannot stand in a host: it has letters, digits, - and .;"
                + " an IPv6 address stands in brackets");
      }
    }
    return hostEnd;
  }

  private int port(int start, int end) {
    if (start == end) {
      return DEFAULT_PORT;
    }
    int port = text.at(start) == ':' ? number(start + 1, end, MAX_PORT) : -1;
    if (port < 1) {
      throw text.error(
          start,
          end,
          "a port is a number from 1 to 65535; if this is a password, add @host; an IPv6 address"
              + " stands in brackets");
    }
    return port;
  }

  private String database(int slash) {
    if (to - slash <= 1) {
      return "";
    }
    int database = number(slash + 1, to, Integer.MAX_VALUE);
    if (database < 0) {
      throw text.error(
          slash + 1,
          to,
          "after the / comes the number of a database, such as 0; a / inside a password is"
              + " written %2F");
    }
    return "/" + database;
  }

  /** -1 if it is no number, or above the largest. */
  private int number(int start, int end, int max) {
    if (start == end || end - start > 10) {
      return -1;
    }
    for (int i = start; i < end; i++) {
      if (!Chars.isDigit(text.at(i))) {
        return -1;
      }
    }
    long number = Long.parseLong(text.raw(), start, end, 10);
    return number > max ? -1 : (int) number;
  }

  /** The exception of {@link URI} carries its input, so it is never a cause. */
  private URI uri(String normalised, int host, int hostEnd) {
    try {
      URI uri = new URI(normalised);
      if (uri.getHost() != null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // told below
    }
    throw text.error(
        host,
        hostEnd,
        text.quoted(host, hostEnd)
            + " is neither the name of a host nor an IP address; an IPv6 address stands in"
            + " brackets");
  }
}
