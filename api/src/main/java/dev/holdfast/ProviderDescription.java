package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import java.lang.module.ModuleDescriptor;
import java.security.CodeSource;
import java.util.Optional;

/** The name of a backend in messages, by which a reader can find it on a class path. */
final class ProviderDescription {
  private ProviderDescription() {}

  static String of(LockProvider provider) {
    Class<?> type = provider.getClass();
    return name(provider)
        + " ("
        + type.getName()
        + version(type).map(v -> ", version " + v).orElse("")
        + location(type).map(l -> ", from " + l).orElse("")
        + ")";
  }

  static Optional<String> version(Class<?> type) {
    return Optional.ofNullable(type.getModule().getDescriptor())
        .flatMap(ModuleDescriptor::rawVersion)
        .or(() -> Optional.ofNullable(type.getPackage().getImplementationVersion()));
  }

  private static Optional<String> location(Class<?> type) {
    return Optional.ofNullable(type.getProtectionDomain().getCodeSource())
        .map(CodeSource::getLocation)
        .map(Object::toString);
  }

  private static String name(LockProvider provider) {
    try {
      return provider.name();
    } catch (RuntimeException | LinkageError e) {
      return "a backend that does not tell its name";
    }
  }
}
