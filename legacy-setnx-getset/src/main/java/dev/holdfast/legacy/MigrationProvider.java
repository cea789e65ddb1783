package dev.holdfast.legacy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.util.Set;

/**
 * Opens {@code migrate:from} (the old lock alone), {@code migrate:both} and {@code migrate:to} (the
 * new lock alone), with the two locks' own URLs in the options {@code from} and {@code to}. Both
 * are wanted and looked at in each phase, so that a mistake shows in the first; but no phase
 * connects to what it does not use.
 */
public final class MigrationProvider implements LockProvider {
  private static final Set<String> OPTIONS =
      Set.of(
          MigrationSide.FROM,
          MigrationSide.TO,
          MigrationSide.RETRY_DELAY,
          MigrationSide.MAX_TTL,
          MigrationSide.OWNER);

  /** For {@link java.util.ServiceLoader}. */
  public MigrationProvider() {}

  @Override
  public String name() {
    return "migrate";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("migrate") && url.driver().isEmpty();
  }

  @Override
  public LockManager open(LockUrl url) {
    url.requireKnownOptions(OPTIONS);
    requirePositive(url, MigrationSide.RETRY_DELAY);
    requirePositive(url, MigrationSide.MAX_TTL);
    MigrationSide from = MigrationSide.of(MigrationSide.FROM, url);
    MigrationSide to = MigrationSide.of(MigrationSide.TO, url);
    requireTwo(url, from, to);
    return switch (url.name().orElse("")) {
      case "from" -> from.open();
      case "both" -> both(from, to);
      case "to" -> to.open();
      default ->
          throw new LockConfigurationException(
              url + " names no phase: write migrate:from, then migrate:both, then migrate:to");
    };
  }

  /** Looked at here, and not only where it is passed on to, so that an error shows its place. */
  private static void requirePositive(LockUrl url, String option) {
    if (url.duration(option, Duration.ofSeconds(1)).isZero()) {
      throw url.wrongOption(option, "is zero: give more than zero");
    }
  }

  /** Copied and not changed, they would refuse each other for ever. Only memory: is never one. */
  private static void requireTwo(LockUrl url, MigrationSide from, MigrationSide to) {
    boolean shared = !from.url().nodes().isEmpty() || from.url().name().isPresent();
    if (shared && from.text().equals(to.text())) {
      throw url.wrongOption(
          MigrationSide.TO, "is the same as option from: give the new lock another keyPrefix");
    }
  }

  private static LockManager both(MigrationSide from, MigrationSide to) {
    LockManager oldLocks = from.open();
    LockManager newLocks;
    try {
      newLocks = to.open();
    } catch (RuntimeException e) {
      oldLocks.close();
      throw e;
    }
    MigrationLockManager.Builder both =
        MigrationLockManager.both(oldLocks, newLocks)
            .retryDelay(
                to.url()
                    .duration(
                        MigrationSide.RETRY_DELAY,
                        from.url()
                            .duration(
                                MigrationSide.RETRY_DELAY, LockManagerBuilder.DEFAULT_RETRY_DELAY)))
            .maxTtl(shorter(maxTtl(from), maxTtl(to)));
    String owner = to.url().text(MigrationSide.OWNER, from.url().text(MigrationSide.OWNER, ""));
    return owner.isEmpty() ? both.open() : both.owner(owner).open();
  }

  private static Duration maxTtl(MigrationSide side) {
    return side.url().duration(MigrationSide.MAX_TTL, LockManagerBuilder.DEFAULT_MAX_TTL);
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
