package dev.holdfast.spi;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds possible passwords in a text that need not be a valid URL, because most invalid URLs are
 * invalid by a password that is not encoded. If it is unclear what is a password, too much is
 * hidden. Linear in time.
 */
final class CredentialSpans {
  /** From {@code from} up to, but without, {@code to}. */
  record Span(int from, int to) {}

  private static final Pattern NODE_START =
      Pattern.compile("rediss?(?::|%3A)(?:/|%2F){2}", Pattern.CASE_INSENSITIVE);
  private static final Pattern SLASH_OR_AT =
      Pattern.compile("/|@|%2F|%40", Pattern.CASE_INSENSITIVE);
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(?:\\[[0-9A-Fa-f:.]*+]|[A-Za-z0-9._-]++)(?::[0-9]{1,5})?+(?:/[0-9]*+)?+");
  private static final Pattern PORT = Pattern.compile("[0-9]{0,5}(?:;rediss?:)?+");
  private static final Pattern UNCLOSED_IPV6 = Pattern.compile("\\[[0-9A-Fa-f:.]*+");
  private static final Pattern NEXT_OPTION = Pattern.compile("&[A-Za-z0-9]{1,64}=");
  private static final List<String> NAMES_OF_SECRETS =
      List.of("pass", "pwd", "secret", "credential", "auth");

  private final String text;

  private CredentialSpans(String text) {
    this.text = text;
  }

  /** Returns the spans to hide, in order, none touching another. */
  static List<Span> in(String text) {
    CredentialSpans secrets = new CredentialSpans(text);
    return merged(
        Stream.of(secrets.credentials(), secrets.suspectPorts(), secrets.secretOptions())
            .flatMap(List::stream)
            .filter(span -> span.from < span.to)
            .sorted(Comparator.comparingInt(Span::from))
            .toList());
  }

  private static List<Span> merged(List<Span> sorted) {
    List<Span> merged = new ArrayList<>();
    for (Span span : sorted) {
      int last = merged.size() - 1;
      if (last >= 0 && span.from <= merged.get(last).to) {
        Span before = merged.get(last);
        merged.set(last, new Span(before.from, Math.max(before.to, span.to)));
      } else {
        merged.add(span);
      }
    }
    return merged;
  }

  /** Returns user and password together, because many clients use a lone user as a password. */
  private List<Span> credentials() {
    int end = lastAt();
    if (end < 0) {
      return List.of();
    }
    int start = startOfCredentials(end);
    return cleanCredentials(start, end).orElse(List.of(new Span(start, end)));
  }

  /** Counts an encoded @ in options, too, which may end the credentials of a URL in a URL. */
  private int lastAt() {
    int options = text.indexOf('?');
    int encoded = options < 0 ? -1 : text.lastIndexOf("%40");
    return Math.max(text.lastIndexOf('@'), encoded > options ? encoded : -1);
  }

  /** Returns the start in the first node, unless a foreign text stands before that node. */
  private int startOfCredentials(int end) {
    Matcher node = NODE_START.matcher(text);
    if (node.find()
        && node.end() <= end
        && !SLASH_OR_AT.matcher(text).region(0, node.start()).find()) {
      return node.end();
    }
    return text.lastIndexOf(':', end) < 0 ? 0 : text.indexOf(':') + 1;
  }

  /** Returns one span per node, if everything up to the last @ is certainly a list of nodes. */
  private Optional<List<Span>> cleanCredentials(int start, int end) {
    List<Span> spans = new ArrayList<>();
    Matcher next = NODE_START.matcher(text);
    int from = start;
    while (true) {
      int comma = text.indexOf(',', from);
      int to = comma < 0 || comma > end ? end + 1 : comma;
      String node = text.substring(from, to);
      int at = node.indexOf('@');
      if (at == 0 || !isUserInfo(node.substring(0, Math.max(at, 0)))) {
        return Optional.empty();
      }
      if (at >= 0) {
        spans.add(new Span(from, from + at));
      }
      if (from + at == end) {
        return Optional.of(spans);
      }
      if (to > end
          || !HOST_AND_PORT.matcher(node.substring(at + 1)).matches()
          || !next.region(to + 1, text.length()).lookingAt()) {
        return Optional.empty();
      }
      from = next.end();
    }
  }

  private static boolean isUserInfo(String part) {
    return part.chars().allMatch(c -> UrlChars.isUserInfo((char) c) || c == '%');
  }

  /**
   * Returns the text in the place of a port, which may be a password whose {@code @host} is
   * missing.
   */
  private List<Span> suspectPorts() {
    List<Span> spans = new ArrayList<>();
    Matcher node = NODE_START.matcher(text);
    int end = 0;
    while (node.find(end)) {
      end = UrlChars.firstOf(",/?&@", text, node.end(), text.length());
      String authority = text.substring(node.end(), end);
      int colon = authority.indexOf(':', authority.lastIndexOf(']') + 1);
      if (colon >= 0
          && !UNCLOSED_IPV6.matcher(authority).matches()
          && !PORT.matcher(authority.substring(colon + 1)).matches()) {
        spans.add(new Span(node.end() + colon + 1, end));
      }
    }
    return spans;
  }

  /**
   * Returns passwords in options, where users put them although no option is meant for them. A
   * password that is not encoded may hold a question mark, and an ampersand that begins no other
   * option.
   */
  private List<Span> secretOptions() {
    List<Span> spans = new ArrayList<>();
    for (int from = 0; from <= text.length(); ) {
      int to = UrlChars.firstOf("?&", text, from, text.length());
      int equals = UrlChars.firstOf("=", text, from, to);
      if (equals < to && isNameOfSecret(text.substring(from, equals))) {
        Matcher next = NEXT_OPTION.matcher(text).region(to, text.length());
        to = next.find() ? next.start() : text.length();
        spans.add(new Span(equals + 1, to));
      }
      from = to + 1;
    }
    return spans;
  }

  private static boolean isNameOfSecret(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return NAMES_OF_SECRETS.stream().anyMatch(lower::contains);
  }
}
