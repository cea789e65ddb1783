package dev.holdfast.legacy.migrate;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Opens {@code migrate:from} (the old lock alone), {@code migrate:both} and {@code migrate:to} (the
 * new lock alone), with the two locks' own URLs in the options {@code from} and {@code to}. Both
 * are required and checked in each phase, so that a mistake shows in the first phase. A phase
 * connects only to the locks that it uses.
 */
public final class MigrationProvider implements LockProvider {
  private static final Set<String> OPTIONS =
      ManagerOptions.namesAnd(MigrationSide.FROM, MigrationSide.TO);

  /** Creates the provider for {@link java.util.ServiceLoader}. */
  public MigrationProvider() {}

  @Override
  public String name() {
    return "migrate";
  }

  @Override
  public LockManager open(LockUrl url) {
    return open(url, OpenSettings.none());
  }

  @Override
  public LockManager open(LockUrl url, OpenSettings settings) {
    url.requireKnownOptions(OPTIONS);
    // here, and not only in the URLs that get these options, so that an error shows its place
    ManagerOptions.defaults().read(url);
    MigrationSide from = MigrationSide.of(MigrationSide.FROM, url, settings);
    MigrationSide to = MigrationSide.of(MigrationSide.TO, url, settings);
    requireTwo(url, from, to);
    return switch (url.name().orElse("")) {
      case "from" -> from.open(settings.listeners());
      case "both" -> both(from, to, settings);
      case "to" -> to.open(settings.listeners());
      default ->
          throw new LockConfigurationException(
              url + " names no phase: write migrate:from, then migrate:both, then migrate:to");
    };
  }

  /**
   * Rejects two equal URLs, whose locks would refuse each other forever. Two URLs {@code memory:}
   * without a name are different locks.
   */
  private static void requireTwo(LockUrl url, MigrationSide from, MigrationSide to) {
    boolean shared = from.url().addresses().isPresent() || from.url().name().isPresent();
    if (shared && from.text().equals(to.text())) {
      throw url.wrongOption(
          MigrationSide.TO, "is the same as option from: give the new lock another keyPrefix");
    }
  }

  /**
   * Opens both locks under one manager. The managers of the two locks have no listeners, because
   * that manager reports requests and nodes.
   */
  private static LockManager both(MigrationSide from, MigrationSide to, OpenSettings settings) {
    ManagerOptions options = from.readOptions(ManagerOptions.defaults());
    Duration oldMaxTtl = options.maxTtl();
    Duration newMaxTtl = to.readOptions(ManagerOptions.defaults()).maxTtl();
    ManagerOptions both =
        to.readOptions(options).maxTtl(shorter(oldMaxTtl, newMaxTtl)).apply(settings);
    LockManager oldLocks = from.open(List.of());
    LockManager newLocks;
    try {
      newLocks = to.open(List.of());
    } catch (Throwable e) {
      try (oldLocks) {
        throw e;
      }
    }
    return MigrationLockManager.both(oldLocks, newLocks).managerOptions(any -> both).open();
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
