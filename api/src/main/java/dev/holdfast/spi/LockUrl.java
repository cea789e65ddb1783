package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.internal.Nearest;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a lock manager, taken apart.
 *
 * <pre>
 * url    = scheme ":" [ driver ":" ] target [ "?" option *( "&amp;" option ) ]
 * target = node *( "," node ) / [ name ]
 * node   = ( "redis" / "rediss" ) "://" [ user [ ":" password ] "@" ] host [ ":" port ] [ "/" db ]
 * option = name "=" value
 * </pre>
 *
 * <p>Scheme, driver and host are folded to lower case. User, password and the value of an option
 * are percent-encoded where they hold one of {@code @ / ? # , & % }; a single {@code %} may end a
 * value, as in {@code drift=1%}. All errors are {@link LockConfigurationException}s that show the
 * place. Neither they nor {@link #toString} ever show a user or a password, or what may be one in a
 * text that is wrong. (Only a password such as {@code a@b,redis://c}, not encoded, cannot be told
 * from two nodes.)
 *
 * <p>Immutable.
 */
public final class LockUrl {
  /** Far above what anybody writes, so that no mistake makes a message without end. */
  private static final int MAX_LENGTH = 8192;

  private final ShownText text;
  private final String scheme;
  private final Optional<String> driver;
  private final Optional<String> name;
  private final List<URI> nodes;
  private final Map<String, UrlOption> options;

  LockUrl(
      ShownText text,
      String scheme,
      Optional<String> driver,
      Optional<String> name,
      List<URI> nodes,
      Map<String, UrlOption> options) {
    this.text = text;
    this.scheme = scheme;
    this.driver = driver;
    this.name = name;
    this.nodes = List.copyOf(nodes);
    this.options = options;
  }

  /**
   * Takes a URL apart, in time linear in its length.
   *
   * @param url at most 8192 characters
   * @param options override those of the URL; their values stand for themselves, not encoded, each
   *     of at most 8192 characters
   * @return the parts
   * @throws LockConfigurationException if the URL is wrong; shows where, and what is right
   */
  public static LockUrl parse(String url, Map<String, String> options) {
    requireLength("the URL", url);
    Map<String, UrlOption> overriding = new LinkedHashMap<>();
    options.forEach((name, value) -> overriding.put(name, given(name, value)));
    return new UrlParser(new ShownText(url)).parse(overriding);
  }

  private static UrlOption given(String name, String value) {
    requireLength("the name of an option", name);
    requireLength("an option", Objects.requireNonNull(value, name));
    ShownText text = new ShownText(name + "=" + value);
    return new UrlOption(name, value, text, 0, name.length() + 1, text.length());
  }

  private static void requireLength(String what, String text) {
    if (text.length() > MAX_LENGTH) {
      throw new LockConfigurationException(
          what + " is of " + text.length() + " characters: give at most " + MAX_LENGTH);
    }
  }

  /**
   * The kind of lock.
   *
   * @return for example {@code redlock} or {@code memory}; lower case
   */
  public String scheme() {
    return scheme;
  }

  /**
   * The driver that was asked for, if any.
   *
   * @return for example {@code lettuce}; lower case
   */
  public Optional<String> driver() {
    return driver;
  }

  /**
   * The target, where it is a word and not nodes.
   *
   * @return for example {@code both} of {@code migrate:both}; empty for {@code memory:}
   */
  public Optional<String> name() {
    return name;
  }

  /**
   * The nodes, in the order of the URL, each host and port once.
   *
   * @return each with scheme {@code redis} or {@code rediss}, host and port (6379 if none was
   *     given); {@link URI#getUserInfo} is decoded, {@code user[:password]}; {@link URI#getPath} is
   *     empty or {@code /} and a number. Not to be logged: see {@link #describe}. Empty if the
   *     target is not nodes; unmodifiable
   */
  public List<URI> nodes() {
    return nodes;
  }

  /**
   * A node's name for logs and messages.
   *
   * @param node one of {@link #nodes}
   * @return {@code host:port}, or {@code host:port/db} if the database is not 0
   */
  public static String describe(URI node) {
    String path = node.getPath();
    boolean database = path != null && path.length() > 1 && !path.equals("/0");
    return node.getHost() + ":" + node.getPort() + (database ? path : "");
  }

  /**
   * An option's value as it is.
   *
   * @param option the option's name
   * @param otherwise what holds if it was not given
   * @return the decoded value, perhaps empty
   */
  public String text(String option, String otherwise) {
    UrlOption given = options.get(option);
    return given == null ? otherwise : given.value();
  }

  /**
   * An option that is a time, written with its unit: {@code ns us ms s m h d}, as in {@code 50ms}.
   *
   * @param option the option's name
   * @param otherwise what holds if it was not given
   * @return zero or more
   * @throws LockConfigurationException if it is no duration
   */
  public Duration duration(String option, Duration otherwise) {
    UrlOption given = options.get(option);
    return given == null ? otherwise : given.duration();
  }

  /**
   * An option that is on or off: {@code true on yes false off no}.
   *
   * @param option the option's name
   * @param otherwise what holds if it was not given
   * @return whether it is on
   * @throws LockConfigurationException if it is neither
   */
  public boolean flag(String option, boolean otherwise) {
    UrlOption given = options.get(option);
    return given == null ? otherwise : given.flag();
  }

  /**
   * An option that is a whole number.
   *
   * @param option the option's name
   * @param otherwise what holds if it was not given
   * @return the number, of at most 18 digits, perhaps negative
   * @throws LockConfigurationException if it is no such number
   */
  public long number(String option, long otherwise) {
    UrlOption given = options.get(option);
    return given == null ? otherwise : given.number();
  }

  /**
   * An option that is a share, written as a percentage: {@code 1%} is 0.01.
   *
   * @param option the option's name
   * @param otherwise what holds if it was not given
   * @return 0 to 1
   * @throws LockConfigurationException if it is no percentage from 0% to 100%
   */
  public double percent(String option, double otherwise) {
    UrlOption given = options.get(option);
    return given == null ? otherwise : given.percent();
  }

  /**
   * Refuses options that nobody reads.
   *
   * @param known all that this backend reads
   * @throws LockConfigurationException if another was given; names the nearest known one
   */
  public void requireKnownOptions(Set<String> known) {
    for (UrlOption option : options.values()) {
      if (!known.contains(option.name())) {
        int end = option.valueFrom() - 1;
        throw option
            .text()
            .error(
                option.from(),
                end,
                "there is no option "
                    + option.text().quoted(option.from(), end)
                    + Nearest.to(option.name(), known)
                        .map(near -> "; the nearest is " + near)
                        .orElse("")
                    + (known.isEmpty()
                        ? "; there are none here"
                        : "; all are " + new TreeSet<>(known)));
      }
    }
  }

  /**
   * An error for an option whose value this backend cannot use, to be thrown.
   *
   * @param option the option's name
   * @param what what is wrong with the value, and what is right: the end of a sentence
   * @return shows the option where it stands
   */
  public LockConfigurationException wrongOption(String option, String what) {
    @Nullable UrlOption given = options.get(option);
    return given == null
        ? new LockConfigurationException("option " + option + " of " + this + " " + what)
        : given.wrong(what);
  }

  /** The URL as it was given, users and passwords hidden; safe to log. */
  @Override
  public String toString() {
    return text.toString();
  }
}
