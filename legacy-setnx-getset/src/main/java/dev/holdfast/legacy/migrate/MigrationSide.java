package dev.holdfast.legacy.migrate;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One of the two locks of a migration: a URL in an option of another URL.
 *
 * @param option {@link #FROM} or {@link #TO}
 * @param text its URL as it was given. It may hold a password
 * @param passedOn the migration's own options, without those that the URL itself has
 * @param url both, parsed
 * @param settings the settings of the migration, which apply to each of its locks, except listeners
 */
record MigrationSide(
    String option, String text, Map<String, String> passedOn, LockUrl url, OpenSettings settings) {
  static final String FROM = "from";
  static final String TO = "to";

  /** Looks whether there is a backend for it, but connects to nothing. */
  static MigrationSide of(String option, LockUrl migration, OpenSettings settings) {
    String text = migration.text(option, "");
    if (text.isEmpty()) {
      throw new LockConfigurationException(
          migration
              + " has no option "
              + option
              + ": in every phase give both, from=URL of the old lock and to=URL of the new one");
    }
    try {
      Map<String, String> passedOn = passedOn(migration, LockUrl.parse(text, Map.of()));
      LockUrl url = LockUrl.parse(text, passedOn);
      MigrationSide side = new MigrationSide(option, text, passedOn, url, settings);
      RedisNodeUri.all(side.url);
      side.requireBackend();
      return side;
    } catch (LockConfigurationException e) {
      throw named(option, e);
    }
  }

  /**
   * Opens the lock.
   *
   * @param listeners those that the manager of this lock gets
   */
  LockManager open(List<LockListener> listeners) {
    try {
      return manager(listeners);
    } catch (LockConfigurationException e) {
      throw named(option, e);
    } catch (LockOutageException e) {
      LockOutageException named =
          new LockOutageException(
              "option " + option + ": " + url + " cannot be reached",
              e.failures(),
              e.isOutcomeUnknown());
      named.addSuppressed(e);
      throw named;
    }
  }

  private LockManager manager(List<LockListener> listeners) {
    ManagerBuilder builder = LockManager.builder(text).options(passedOn);
    settings.classLoader().ifPresent(builder::classLoader);
    settings.callbackExecutor().ifPresent(builder::callbackExecutor);
    listeners.forEach(builder::listener);
    settings.trustManagers().ifPresent(builder::trustManagers);
    settings.keyManagers().ifPresent(builder::keyManagers);
    settings.wallClock().ifPresent(builder::wallClock);
    return builder.open();
  }

  /** Changes manager options as this lock's URL says. */
  ManagerOptions readOptions(ManagerOptions options) {
    try {
      return options.read(url);
    } catch (LockConfigurationException e) {
      throw named(option, e);
    }
  }

  private static Map<String, String> passedOn(LockUrl migration, LockUrl own) {
    Map<String, String> passedOn = new LinkedHashMap<>();
    for (String name : new TreeSet<>(ManagerOptions.namesAnd())) {
      String value = migration.text(name, "");
      if (!value.isEmpty() && own.text(name, "").isEmpty()) {
        passedOn.put(name, value);
      }
    }
    return passedOn;
  }

  /**
   * Opens a manager and closes it again if there cannot be exactly one backend. Opening then throws
   * an exception that says which backends were found, and the option to write.
   */
  private void requireBackend() {
    if (!mayHaveOne()) {
      manager(List.of()).close();
    }
  }

  /**
   * Returns whether the lock may have one. A broken provider fails only when it is opened, and not
   * before it is needed.
   */
  private boolean mayHaveOne() {
    try {
      return Stream.concat(
                  Stream.of(LockProvider.class.getClassLoader()), settings.classLoader().stream())
              .distinct()
              .flatMap(loader -> ServiceLoader.load(LockProvider.class, loader).stream())
              .collect(
                  Collectors.toMap(ServiceLoader.Provider::type, provider -> provider, (a, b) -> a))
              .values()
              .stream()
              .filter(provider -> provider.get().accepts(url))
              .count()
          == 1;
    } catch (RuntimeException | ServiceConfigurationError | LinkageError broken) {
      return true;
    }
  }

  /** Returns the option and its URL, without a password. */
  @Override
  public String toString() {
    return option + "=" + url;
  }

  private static LockConfigurationException named(String option, LockConfigurationException e) {
    return new LockConfigurationException("option " + option + ": " + e.getMessage(), e);
  }
}
