package dev.holdfast.spring;

import dev.holdfast.spi.LockProvider;
import java.util.Iterator;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/** The backends on the class path in a native image: the file that names them, and their types. */
final class BackendRuntimeHints implements RuntimeHintsRegistrar {
  /**
   * The maximum number of backends that fail to load before the search ends. An iterator of
   * ServiceLoader can report the same failure again without end.
   */
  private static final int MAX_FAILURES = 32;

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    hints.resources().registerPattern("META-INF/services/" + LockProvider.class.getName());
    ClassLoader loader =
        Objects.requireNonNullElse(classLoader, ClassUtils.getDefaultClassLoader());
    Iterator<ServiceLoader.Provider<LockProvider>> backends =
        ServiceLoader.load(LockProvider.class, loader).stream().iterator();
    for (int failures = 0; failures < MAX_FAILURES; failures++) {
      try {
        backends.forEachRemaining(
            backend ->
                hints
                    .reflection()
                    .registerType(backend.type(), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
        return;
      } catch (ServiceConfigurationError | LinkageError unusable) {
        // a backend that cannot be loaded here is no backend of the image
      }
    }
  }
}
