package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings that a program gives in code when it opens a manager: what no URL can hold. Set by
 * {@link dev.holdfast.ManagerBuilder}, read by backends. Immutable.
 */
public final class OpenSettings {
  private static final OpenSettings NONE = new OpenSettings(null, null, List.of());

  private final @Nullable Executor callbackExecutor;
  private final @Nullable ClassLoader classLoader;
  private final List<LockListener> listeners;

  private OpenSettings(
      @Nullable Executor callbackExecutor,
      @Nullable ClassLoader classLoader,
      List<LockListener> listeners) {
    this.callbackExecutor = callbackExecutor;
    this.classLoader = classLoader;
    this.listeners = listeners;
  }

  /**
   * Returns settings of which none is set.
   *
   * @return the defaults of all settings
   */
  public static OpenSettings none() {
    return NONE;
  }

  /**
   * Sets the executor of callbacks.
   *
   * @param executor the executor, which the manager does not shut down
   * @return new settings
   */
  public OpenSettings callbackExecutor(Executor executor) {
    return new OpenSettings(Objects.requireNonNull(executor, "executor"), classLoader, listeners);
  }

  /**
   * Sets the class loader by which backends are found.
   *
   * @param loader used in addition to the class loader of the API
   * @return new settings
   */
  public OpenSettings classLoader(ClassLoader loader) {
    return new OpenSettings(callbackExecutor, Objects.requireNonNull(loader, "loader"), listeners);
  }

  /**
   * Adds a listener.
   *
   * @param listener called by the manager from its opening to its end
   * @return new settings
   */
  public OpenSettings listener(LockListener listener) {
    List<LockListener> more = new ArrayList<>(listeners);
    more.add(Objects.requireNonNull(listener, "listener"));
    return new OpenSettings(callbackExecutor, classLoader, List.copyOf(more));
  }

  /**
   * Returns the executor on which users' stages complete.
   *
   * @return empty for threads of the manager's own
   */
  public Optional<Executor> callbackExecutor() {
    return Optional.ofNullable(callbackExecutor);
  }

  /**
   * Returns the class loader by which a backend finds other backends, if it opens managers itself.
   *
   * @return the class loader that was set, else the context class loader of this thread; empty if
   *     there is neither
   */
  public Optional<ClassLoader> classLoader() {
    return Optional.ofNullable(classLoader)
        .or(() -> Optional.ofNullable(Thread.currentThread().getContextClassLoader()));
  }

  /**
   * Returns the listeners that the manager has before it connects.
   *
   * @return an unmodifiable list, in the order in which they were added
   */
  public List<LockListener> listeners() {
    return listeners;
  }

  /**
   * Refuses settings that a backend cannot apply, because it was written for URLs alone.
   *
   * @param backend the backend's name
   * @throws LockConfigurationException if a setting would have no effect
   */
  void requireNoneFor(String backend) {
    if (callbackExecutor != null) {
      throw untaken(backend, "callback executor: leave it out");
    }
    if (!listeners.isEmpty()) {
      throw untaken(backend, "listener: add it to the manager by addListener");
    }
  }

  private static LockConfigurationException untaken(String backend, String setting) {
    return new LockConfigurationException(
        "the backend '"
            + backend
            + "' takes no "
            + setting
            + ", or use a version of the backend that implements LockProvider.open(url, settings)");
  }
}
