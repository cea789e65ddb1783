package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.internal.SpellingSuggestions;
import java.time.Duration;
import java.util.LinkedHashMap;
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
 * target = addresses / [ name ]
 * option = name "=" value
 * </pre>
 *
 * <p>Addresses are a text with {@code ://}, which the backend reads. Scheme and driver are folded
 * to lower case. The value of an option is percent-encoded where it holds one of {@code @ / ? # , &
 * % }; a single {@code %} may end a value, as in {@code drift=1%}. All errors are {@link
 * LockConfigurationException}s that show the place. Neither they nor {@link #toString} ever show a
 * user or a password, or what may be one in a text that is wrong.
 *
 * <p>Immutable.
 */
public final class LockUrl {
  /** Far above what anybody writes, so that no mistake makes a message without end. */
  private static final int MAX_LENGTH = 8192;

  private final MaskedText text;
  private final String scheme;
  private final Optional<String> driver;
  private final int targetFrom;
  private final int targetEnd;
  private final boolean hasAddresses;
  private final Map<String, UrlOption> options;

  LockUrl(
      MaskedText text,
      String scheme,
      Optional<String> driver,
      int targetFrom,
      int targetEnd,
      boolean hasAddresses,
      Map<String, UrlOption> options) {
    this.text = text;
    this.scheme = scheme;
    this.driver = driver;
    this.targetFrom = targetFrom;
    this.targetEnd = targetEnd;
    this.hasAddresses = hasAddresses;
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
    return new UrlParser(new MaskedText(url)).parse(overriding);
  }

  private static UrlOption given(String name, String value) {
    requireLength("the name of an option", name);
    requireLength("an option", Objects.requireNonNull(value, name));
    MaskedText text = new MaskedText(name + "=" + value);
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
   * The target, where it is a word.
   *
   * @return for example {@code both} of {@code migrate:both}; empty for {@code memory:}
   */
  public Optional<String> name() {
    return hasAddresses || targetFrom == targetEnd ? Optional.empty() : Optional.of(target());
  }

  /**
   * The target, where it is addresses: for example {@code redis://h1,redis://h2}.
   *
   * @return as it was given. May hold passwords: not to be logged
   */
  public Optional<String> addresses() {
    return hasAddresses ? Optional.of(target()) : Optional.empty();
  }

  private String target() {
    return text.raw().substring(targetFrom, targetEnd);
  }

  /**
   * An error for a part of {@link #addresses} that this backend cannot use, to be thrown.
   *
   * @param from where the part begins
   * @param to where it ends
   * @param what what is wrong, and what is right
   * @return shows the part where it stands, passwords hidden
   */
  public LockConfigurationException wrongAddress(int from, int to, String what) {
    return text.error(targetFrom + from, targetFrom + to, what);
  }

  /**
   * A part of {@link #addresses} for messages.
   *
   * @param from where the part begins
   * @param to where it ends
   * @return the part in quotation marks, passwords hidden
   */
  public String quotedAddress(int from, int to) {
    return text.quoted(targetFrom + from, targetFrom + to);
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
   * Returns whether an option is the first of two words, which it is if it was not given.
   *
   * @param option the option's name
   * @param first the word that holds if the option was not given
   * @param second the other word
   * @return false if it is the second
   * @throws LockConfigurationException if it is neither
   */
  public boolean isFirst(String option, String first, String second) {
    String value = text(option, first);
    if (!value.equals(first) && !value.equals(second)) {
      throw wrongOption(
          option, "is neither: write " + option + "=" + first + " or " + option + "=" + second);
    }
    return value.equals(first);
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
                    + SpellingSuggestions.to(option.name(), known)
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
