package dev.holdfast.cli.backend;

import dev.holdfast.spi.LockProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The backends that are there: those that come with this program, and those of --class-path. */
public final class Providers {
  /** The limit is needed because some failures of an iterator repeat forever. */
  private static final int MAX_FAILURES = 32;

  private final Iterator<ServiceLoader.Provider<LockProvider>> found =
      ServiceLoader.load(LockProvider.class).stream().iterator();
  private final Consumer<BrokenBackend> onBroken;
  private int failures;

  private Providers(Consumer<BrokenBackend> onBroken) {
    this.onBroken = onBroken;
  }

  /** Returns the first provider that is wanted. Loads none after it. */
  public static Optional<LockProvider> first(Predicate<LockProvider> wanted) {
    return new Providers(broken -> {}).next(wanted);
  }

  /** Returns all providers that are wanted. */
  static List<LockProvider> all(Predicate<LockProvider> wanted, Consumer<BrokenBackend> onBroken) {
    List<LockProvider> all = new ArrayList<>();
    Providers providers = new Providers(onBroken);
    for (Optional<LockProvider> next = providers.next(wanted);
        next.isPresent();
        next = providers.next(wanted)) {
      all.add(next.get());
    }
    return all;
  }

  private Optional<LockProvider> next(Predicate<LockProvider> wanted) {
    while (failures < MAX_FAILURES) {
      try {
        if (!found.hasNext()) {
          break;
        }
        Optional<LockProvider> next = usable(found.next(), wanted);
        if (next.isPresent()) {
          return next;
        }
      } catch (ServiceConfigurationError | LinkageError e) {
        failures++;
        onBroken.accept(new BrokenBackend(Optional.empty(), e));
      }
    }
    return Optional.empty();
  }

  private Optional<LockProvider> usable(
      ServiceLoader.Provider<LockProvider> one, Predicate<LockProvider> wanted) {
    try {
      return Optional.of(one.get()).filter(wanted);
    } catch (RuntimeException | ServiceConfigurationError | LinkageError e) {
      onBroken.accept(new BrokenBackend(Optional.of(one.type()), e));
      return Optional.empty();
    }
  }
}
