package dev.holdfast.legacy.setnx;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.DurationRange;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
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
 *   <li>{@code unit=s|ms}: the unit of time stamps. By default seconds, as on the SETNX page.
 *   <li>{@code number=integer|float}: whether they have a fraction. By default they have none.
 *   <li>{@code keyPrefix}: the part of a key before the name of the lock. By default {@code lock.},
 *       as on the SETNX page.
 *   <li>{@code release=checked|del}: whether a release deletes the key only while its own stamp has
 *       not passed, as the page asks for, or always.
 *   <li>{@code retryDelay}: the longest pause of a waiter between two attempts.
 *   <li>{@code clockMargin}: the time that a stamp must have left for {@code migrate:both} to
 *       extend it.
 *   <li>{@code quorumTimeout}: how long an operation may take. An attempt never takes longer than
 *       its validity.
 *   <li>{@code nodeTimeout}: how long an attempt may go unanswered before the waiters behind it
 *       report an outage. There are no stragglers with one server, so it shortens no operation.
 *   <li>{@code connectTimeout}, {@code connect}, {@code maxTtl}, {@code owner}: as with the other
 *       backends.
 * </ul>
 */
public final class SetnxProvider implements LockProvider {
  private static final Set<String> OPTIONS =
      ManagerOptions.namesAnd(
          "unit",
          "number",
          "release",
          "keyPrefix",
          "clockMargin",
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect");

  /** Creates the provider for {@link java.util.ServiceLoader}. */
  public SetnxProvider() {}

  @Override
  public String name() {
    return "setnx";
  }

  @Override
  public LockManager open(LockUrl url) {
    return open(url, OpenSettings.none());
  }

  @Override
  public LockManager open(LockUrl url, OpenSettings settings) {
    settings.requireNoTls(name());
    return builder(url).managerOptions(options -> options.apply(settings)).open();
  }

  /** Returns a builder with all settings of a URL. */
  static SetnxLocks.Builder builder(LockUrl url) {
    url.requireKnownOptions(OPTIONS);
    List<RedisNodeUri> nodes = RedisNodeUri.all(url);
    if (nodes.size() != 1) {
      throw new LockConfigurationException(
          url + " is not one node: write setnx:redis://host:port; this lock lives on one server");
    }
    SetnxLocks.Builder builder =
        SetnxLocks.builder()
            .managerOptions(options -> options.read(url))
            .node(nodes.get(0))
            .unit(url.isFirst("unit", "s", "ms") ? ChronoUnit.SECONDS : ChronoUnit.MILLIS)
            .floatingPoint(!url.isFirst("number", "integer", "float"))
            .checkedRelease(url.isFirst("release", "checked", "del"))
            .keyPrefix(url.text("keyPrefix", SetnxLocks.DEFAULT_KEY_PREFIX))
            .clockMargin(url.duration("clockMargin", SetnxLocks.DEFAULT_CLOCK_MARGIN))
            .nodeTimeout(timeout(url, "nodeTimeout", SetnxLocks.DEFAULT_NODE_TIMEOUT))
            .quorumTimeout(timeout(url, "quorumTimeout", SetnxLocks.DEFAULT_QUORUM_TIMEOUT))
            .connectTimeout(timeout(url, "connectTimeout", SetnxLocks.DEFAULT_CONNECT_TIMEOUT));
    return url.isFirst("connect", "eager", "lazy") ? builder : builder.connectLazily();
  }

  private static Duration timeout(LockUrl url, String option, Duration defaultValue) {
    return DurationRange.TIMEOUT.read(url, option, defaultValue);
  }
}
