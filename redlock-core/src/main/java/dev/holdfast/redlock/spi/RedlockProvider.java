package dev.holdfast.redlock.spi;

import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.util.List;

/**
 * Serves {@code redlock:} URLs with a driver, and those that ask for it by its name. Stateless: a
 * driver gives its name and opens its nodes.
 */
public abstract class RedlockProvider implements LockProvider {
  private final String name;
  private final boolean usesTlsSettings;

  /**
   * Makes the provider of a driver that refuses trust and key managers.
   *
   * @param name the driver's name in URLs, in lower case
   */
  protected RedlockProvider(String name) {
    this(name, false);
  }

  /**
   * Makes the provider of a driver.
   *
   * @param name the driver's name in URLs, in lower case
   * @param usesTlsSettings whether {@link #nodes} uses the trust and key managers of its settings.
   *     Otherwise managers are not opened with them, since they would have no effect
   */
  protected RedlockProvider(String name, boolean usesTlsSettings) {
    this.name = name;
    this.usesTlsSettings = usesTlsSettings;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final boolean accepts(LockUrl url) {
    return url.scheme().equals("redlock")
        && url.driver().orElse(name).equals(name)
        && url.addresses().isPresent();
  }

  @Override
  public final LockManager open(LockUrl url) {
    return open(url, OpenSettings.none());
  }

  @Override
  public final LockManager open(LockUrl url, OpenSettings settings) {
    url.requireKnownOptions(RedlockOptions.NAMES);
    if (!usesTlsSettings) {
      settings.requireNoTls(name);
    }
    RedlockOptions options =
        RedlockOptions.from(url).managerOptions(common -> common.apply(settings));
    return Redlock.open(nodes(RedisNodeUri.all(url), options, settings), options);
  }

  /**
   * Makes the driver's nodes, for {@link Redlock#open}.
   *
   * @param uris at least one
   * @param options of which a driver may need {@link RedlockOptions#connectTimeout}
   * @param settings of which a driver may need the trust and key managers, if its constructor says
   *     so
   * @return the nodes, in the same order, none of them connected
   * @throws dev.holdfast.LockConfigurationException if a setting would have no effect
   */
  protected abstract RedisNodes nodes(
      List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings);
}
