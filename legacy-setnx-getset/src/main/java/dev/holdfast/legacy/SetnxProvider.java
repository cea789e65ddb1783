package dev.holdfast.legacy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;

/**
 * Serves {@code setnx:} URLs, such as {@code setnx:redis://host:6379/0?unit=ms}. Stateless.
 *
 * <p>The options, of which the first five say what a fleet's clients do already:
 *
 * <ul>
 *   <li>{@code unit=s|ms}: what time stamps count; seconds, as on the SETNX page, by default.
 *   <li>{@code number=integer|float}: whether they have a fraction; by default they have none.
 *   <li>{@code keyPrefix}: before the name of each lock; {@code lock.} by default, as on the SETNX
 *       page.
 *   <li>{@code release=checked|del}: whether a release deletes the key only while its own stamp has
 *       not passed, as the page asks for, or always.
 *   <li>{@code retryDelay}: the longest pause between two attempts of one who waits.
 *   <li>{@code clockMargin}: what must be left of a stamp that {@code migrate:both} extends.
 *   <li>{@code quorumTimeout}: how long an operation may take; an attempt never beyond its
 *       validity.
 *   <li>{@code nodeTimeout}: how long an attempt may go unanswered before those who wait behind it
 *       report an outage. There are no stragglers with one server, so it shortens no operation.
 *   <li>{@code connectTimeout}, {@code connect}, {@code maxTtl}, {@code owner}: as with the other
 *       backends.
 * </ul>
 */
public final class SetnxProvider implements LockProvider {
  private static final Set<String> OPTIONS =
      Set.of(
          "unit",
          "number",
          "release",
          "keyPrefix",
          "clockMargin",
          "retryDelay",
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect",
          "maxTtl",
          "owner");

  /** For {@link java.util.ServiceLoader}. */
  public SetnxProvider() {}

  @Override
  public String name() {
    return "setnx";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("setnx") && url.driver().isEmpty();
  }

  @Override
  public LockManager open(LockUrl url) {
    return builder(url).open();
  }

  /** Everything that a URL can say. */
  static SetnxLocks.Builder builder(LockUrl url) {
    url.requireKnownOptions(OPTIONS);
    if (url.nodes().size() != 1) {
      throw new LockConfigurationException(
          url + " is not one node: write setnx:redis://host:port; this lock lives on one server");
    }
    SetnxLocks.Builder builder =
        SetnxLocks.builder()
            .node(url.nodes().get(0))
            .unit(isFirst(url, "unit", "s", "ms") ? ChronoUnit.SECONDS : ChronoUnit.MILLIS)
            .floatingPoint(!isFirst(url, "number", "integer", "float"))
            .checkedRelease(isFirst(url, "release", "checked", "del"))
            .keyPrefix(url.text("keyPrefix", SetnxLocks.DEFAULT_KEY_PREFIX))
            .clockMargin(url.duration("clockMargin", SetnxLocks.DEFAULT_CLOCK_MARGIN))
            .retryDelay(limited(url, "retryDelay", LockManagerBuilder.DEFAULT_RETRY_DELAY))
            .nodeTimeout(limited(url, "nodeTimeout", SetnxLocks.DEFAULT_NODE_TIMEOUT))
            .quorumTimeout(limited(url, "quorumTimeout", SetnxLocks.DEFAULT_QUORUM_TIMEOUT))
            .connectTimeout(limited(url, "connectTimeout", SetnxLocks.DEFAULT_CONNECT_TIMEOUT))
            .maxTtl(url.duration("maxTtl", LockManagerBuilder.DEFAULT_MAX_TTL));
    if (!isFirst(url, "connect", "eager", "lazy")) {
      builder.connectLazily();
    }
    String owner = url.text("owner", "");
    return owner.isEmpty() ? builder : builder.owner(owner);
  }

  /** Which of two words an option says; the first if it is not given. */
  private static boolean isFirst(LockUrl url, String option, String first, String second) {
    String value = url.text(option, first);
    if (!List.of(first, second).contains(value)) {
      throw url.wrongOption(
          option, "is neither: write " + option + "=" + first + " or " + option + "=" + second);
    }
    return value.equals(first);
  }

  private static Duration limited(LockUrl url, String option, Duration otherwise) {
    Duration value = url.duration(option, otherwise);
    if (value.isZero() || value.compareTo(SetnxLocks.LONGEST) > 0) {
      throw url.wrongOption(option, SetnxLocks.WRONG_LIMIT);
    }
    return value;
  }
}
