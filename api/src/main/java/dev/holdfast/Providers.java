package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;

/** Finds backends, and chooses the one that a URL means. Belongs to one thread. */
final class Providers {
  /** The limit is needed because some failures of an iterator repeat forever. */
  private static final int MAX_FAILURES = 32;

  private final List<LockProvider> working = new ArrayList<>();
  private final List<BrokenProvider> broken = new ArrayList<>();

  private Providers() {}

  /** Returns the backends of the API's own class loader and of another one, if there is one. */
  static Providers found(Optional<ClassLoader> other) {
    Providers found = new Providers();
    Set<String> seen = new HashSet<>();
    ClassLoader own = LockProvider.class.getClassLoader();
    found.load(own, seen);
    other.filter(loader -> loader != own).ifPresent(loader -> found.load(loader, seen));
    return found;
  }

  /**
   * Returns backends that the caller has found: perhaps a {@link ServiceLoader}, which fails as it
   * is walked.
   */
  static Providers given(Iterable<? extends LockProvider> providers) {
    Providers given = new Providers();
    given.walk(providers.iterator(), given.working::add);
    return given;
  }

  LockManager open(LockUrl url, OpenSettings settings) {
    List<LockProvider> accepting = working.stream().filter(p -> accepts(p, url)).toList();
    if (accepting.isEmpty()) {
      throw ProviderErrors.none(url, working, broken);
    }
    if (accepting.size() > 1) {
      throw ProviderErrors.several(url, accepting);
    }
    LockProvider chosen = accepting.get(0);
    try {
      return chosen.open(url, settings);
    } catch (LinkageError e) {
      throw ProviderErrors.unfit(new BrokenProvider(ProviderDescription.of(chosen), e));
    }
  }

  private boolean accepts(LockProvider provider, LockUrl url) {
    try {
      return provider.accepts(url);
    } catch (RuntimeException | LinkageError e) {
      broken.add(new BrokenProvider(ProviderDescription.of(provider), e));
      return false;
    }
  }

  private void load(ClassLoader loader, Set<String> seen) {
    walk(
        ServiceLoader.load(LockProvider.class, loader).stream().iterator(),
        provider -> {
          if (seen.add(provider.type().getName())) {
            working.add(provider.get());
          }
        });
  }

  private <T> void walk(Iterator<T> all, Consumer<T> take) {
    for (int failures = 0; failures < MAX_FAILURES; failures++) {
      try {
        all.forEachRemaining(take);
        return;
      } catch (ServiceConfigurationError | LinkageError e) {
        BrokenProvider failed = new BrokenProvider("one that cannot be loaded", e);
        if (broken.stream().noneMatch(failed::looksLike)) {
          broken.add(failed);
        }
      }
    }
  }
}
