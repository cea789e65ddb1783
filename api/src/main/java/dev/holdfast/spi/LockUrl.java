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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a lock manager, parsed.
 *
 * <pre>
 * url    = scheme ":" [ driver ":" ] target [ "?" option *( "&amp;" option ) ]
 * target = addresses / [ name ]
 * option = name "=" value
 * </pre>
 *
 * <p>Addresses are a text with {@code ://}, which the backend reads. Scheme and driver are folded
 * to lower case. The value of an option is percent-encoded where it holds one of {@code @ / ? # , &
 * % }. A single {@code %} may end a value, as in {@code drift=1%}. All errors are {@link
 * LockConfigurationException}s that show the place. Neither the errors nor {@link #toString} show a
 * user or a password, also if the URL is wrong.
 *
 * <p>Immutable.
 */
public final class LockUrl {
  /**
   * Maximum characters of a URL: far above real URLs, so that no mistake makes an endless message.
   */
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
   * Parses a URL, in time linear in its length.
   *
   * @param url at most 8192 characters
   * @param options override those of the URL. Their values are not percent-encoded, and each has at
   *     most 8192 characters
   * @return the parsed URL
   * @throws LockConfigurationException if the URL is wrong, with the place and a correction
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
   * Returns the kind of lock.
   *
   * @return for example {@code redlock} or {@code memory}, in lower case
   */
  public String scheme() {
    return scheme;
  }

  /**
   * Returns the driver that the URL names.
   *
   * @return for example {@code lettuce}, in lower case, or empty if the URL names none
   */
  public Optional<String> driver() {
    return driver;
  }

  /**
   * Returns the target, if it is a word.
   *
   * @return for example {@code both} of {@code migrate:both}, or empty for {@code memory:}
   */
  public Optional<String> name() {
    return hasAddresses || targetFrom == targetEnd ? Optional.empty() : Optional.of(target());
  }

  /**
   * Returns the target, if it is addresses: for example {@code redis://h1,redis://h2}.
   *
   * @return the text of the URL, unchanged. It may hold passwords, so do not log it
   */
  public Optional<String> addresses() {
    return hasAddresses ? Optional.of(target()) : Optional.empty();
  }

  private String target() {
    return text.raw().substring(targetFrom, targetEnd);
  }

  /**
   * Returns an error for a part of {@link #addresses} that this backend cannot use. The caller
   * throws it.
   *
   * @param from where the part begins
   * @param to where it ends
   * @param what the mistake and its correction
   * @return an error that shows the part in its place, passwords hidden
   */
  public LockConfigurationException wrongAddress(int from, int to, String what) {
    return text.error(targetFrom + from, targetFrom + to, what);
  }

  /**
   * Returns a part of {@link #addresses} for messages.
   *
   * @param from where the part begins
   * @param to where it ends
   * @return the part in quotation marks, passwords hidden
   */
  public String quotedAddress(int from, int to) {
    return text.quoted(targetFrom + from, targetFrom + to);
  }

  /**
   * Returns the text of an option.
   *
   * @param option the option's name
   * @param defaultValue the value if the URL does not set the option
   * @return the decoded value, perhaps empty
   */
  public String text(String option, String defaultValue) {
    return read(option, UrlOption::value, defaultValue);
  }

  /**
   * Returns an option that is a time with a unit: {@code ns us ms s m h d}, as in {@code 50ms}.
   *
   * @param option the option's name
   * @param defaultValue the value if the URL does not set the option
   * @return zero or more
   * @throws LockConfigurationException if the value is no duration
   */
  public Duration duration(String option, Duration defaultValue) {
    return read(option, UrlOption::duration, defaultValue);
  }

  /**
   * Returns an option that is on or off: {@code true on yes false off no}.
   *
   * @param option the option's name
   * @param defaultValue the value if the URL does not set the option
   * @return whether it is on
   * @throws LockConfigurationException if it is neither
   */
  public boolean flag(String option, boolean defaultValue) {
    return read(option, UrlOption::flag, defaultValue);
  }

  /**
   * Returns whether an option is the first of two words, which is the default.
   *
   * @param option the option's name
   * @param first the word that is the default
   * @param second the other word
   * @return false if the value is the second word
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
   * Returns an option that is a whole number.
   *
   * @param option the option's name
   * @param defaultValue the value if the URL does not set the option
   * @return the number, of at most 18 digits, perhaps negative
   * @throws LockConfigurationException if it is no such number
   */
  public long number(String option, long defaultValue) {
    return read(option, UrlOption::number, defaultValue);
  }

  /**
   * Returns an option that is a percentage: {@code 1%} is 0.01.
   *
   * @param option the option's name
   * @param defaultValue the value if the URL does not set the option
   * @return 0 to 1
   * @throws LockConfigurationException if it is no percentage from 0% to 100%
   */
  public double percent(String option, double defaultValue) {
    return read(option, UrlOption::percent, defaultValue);
  }

  /**
   * Refuses options that this backend does not read.
   *
   * @param known the names of all options that this backend reads
   * @throws LockConfigurationException if the URL has another option, with the nearest known option
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
   * Returns an error for an option whose value this backend cannot use. The caller throws it.
   *
   * @param option the option's name
   * @param what the mistake and its correction, as the end of a sentence
   * @return an error that shows the option in its place
   */
  public LockConfigurationException wrongOption(String option, String what) {
    @Nullable UrlOption given = options.get(option);
    return given == null
        ? new LockConfigurationException("option " + option + " of " + this + " " + what)
        : given.wrong(what);
  }

  /** Returns the URL with users and passwords hidden, safe to log. */
  @Override
  public String toString() {
    return text.toString();
  }

  private <T> T read(String option, Function<UrlOption, T> reader, T defaultValue) {
    UrlOption given = options.get(option);
    return given == null ? defaultValue : reader.apply(given);
  }
}
