package dev.holdfast.legacy;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One of the two locks of a migration: a URL in an option of another URL.
 *
 * @param option {@link #FROM} or {@link #TO}
 * @param text its URL as it was given; may hold a password
 * @param passedOn the migration's own options, without those that the URL itself has
 * @param url both, parsed
 */
record MigrationSide(String option, String text, Map<String, String> passedOn, LockUrl url) {
  static final String FROM = "from";
  static final String TO = "to";
  static final String RETRY_DELAY = "retryDelay";
  static final String MAX_TTL = "maxTtl";
  static final String OWNER = "owner";

  /** Looks whether there is a backend for it, but connects to nothing. */
  static MigrationSide of(String option, LockUrl migration) {
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
      MigrationSide side = new MigrationSide(option, text, passedOn, LockUrl.parse(text, passedOn));
      side.requireBackend();
      return side;
    } catch (LockConfigurationException e) {
      throw named(option, e);
    }
  }

  LockManager open() {
    try {
      return LockManager.open(text, passedOn);
    } catch (LockConfigurationException e) {
      throw named(option, e);
    } catch (LockBackendException e) {
      LockBackendException named =
          new LockBackendException(
              "option " + option + ": " + url + " cannot be reached",
              e.failures(),
              e.outcomeUnknown());
      named.addSuppressed(e);
      throw named;
    }
  }

  private static Map<String, String> passedOn(LockUrl migration, LockUrl own) {
    Map<String, String> passedOn = new LinkedHashMap<>();
    for (String name : List.of(RETRY_DELAY, MAX_TTL, OWNER)) {
      String value = migration.text(name, "");
      if (!value.isEmpty() && own.text(name, "").isEmpty()) {
        passedOn.put(name, value);
      }
    }
    return passedOn;
  }

  /** If there is not exactly one, then opening says what was found and what to write. */
  private void requireBackend() {
    if (!mayHaveOne()) {
      LockManager.open(text, passedOn).close();
    }
  }

  /** With a provider that is broken nobody knows before it is opened: not before it is needed. */
  private boolean mayHaveOne() {
    try {
      return Stream.of(
                  LockProvider.class.getClassLoader(),
                  Thread.currentThread().getContextClassLoader())
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

  /** Without a password. */
  @Override
  public String toString() {
    return option + "=" + url;
  }

  private static LockConfigurationException named(String option, LockConfigurationException e) {
    return new LockConfigurationException("option " + option + ": " + e.getMessage(), e);
  }
}
