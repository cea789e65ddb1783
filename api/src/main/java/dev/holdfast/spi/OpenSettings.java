package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a manager that a URL cannot hold. A {@link dev.holdfast.ManagerBuilder} sets
 * them, and backends read them. Immutable.
 */
public final class OpenSettings {
  private static final OpenSettings NONE =
      new OpenSettings(null, null, null, null, null, List.of());

  private final @Nullable Executor callbackExecutor;
  private final @Nullable ClassLoader classLoader;
  private final @Nullable TrustManagerFactory trustManagers;
  private final @Nullable KeyManagerFactory keyManagers;
  private final @Nullable InstantSource wallClock;
  private final List<LockListener> listeners;

  private OpenSettings(
      @Nullable Executor callbackExecutor,
      @Nullable ClassLoader classLoader,
      @Nullable TrustManagerFactory trustManagers,
      @Nullable KeyManagerFactory keyManagers,
      @Nullable InstantSource wallClock,
      List<LockListener> listeners) {
    this.callbackExecutor = callbackExecutor;
    this.classLoader = classLoader;
    this.trustManagers = trustManagers;
    this.keyManagers = keyManagers;
    this.wallClock = wallClock;
    this.listeners = listeners;
  }

  /**
   * Returns settings without any value.
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
    Objects.requireNonNull(executor, "executor");
    return new OpenSettings(
        executor, classLoader, trustManagers, keyManagers, wallClock, listeners);
  }

  /**
   * Sets the class loader by which backends are found.
   *
   * @param loader used in addition to the class loader of the API
   * @return new settings
   */
  public OpenSettings classLoader(ClassLoader loader) {
    Objects.requireNonNull(loader, "loader");
    return new OpenSettings(
        callbackExecutor, loader, trustManagers, keyManagers, wallClock, listeners);
  }

  /**
   * Sets the authorities that connections with TLS trust.
   *
   * @param factory initialised
   * @return new settings
   */
  public OpenSettings trustManagers(TrustManagerFactory factory) {
    Objects.requireNonNull(factory, "factory");
    return new OpenSettings(
        callbackExecutor, classLoader, factory, keyManagers, wallClock, listeners);
  }

  /**
   * Sets the certificate that connections with TLS show to the server.
   *
   * @param factory initialised
   * @return new settings
   */
  public OpenSettings keyManagers(KeyManagerFactory factory) {
    Objects.requireNonNull(factory, "factory");
    return new OpenSettings(
        callbackExecutor, classLoader, trustManagers, factory, wallClock, listeners);
  }

  /**
   * Sets the wall clock.
   *
   * @param clock the clock, safe for use by many threads
   * @return new settings
   */
  public OpenSettings wallClock(InstantSource clock) {
    Objects.requireNonNull(clock, "clock");
    return new OpenSettings(
        callbackExecutor, classLoader, trustManagers, keyManagers, clock, listeners);
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
    return new OpenSettings(
        callbackExecutor, classLoader, trustManagers, keyManagers, wallClock, List.copyOf(more));
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
   * @return the class loader that was set, else the context class loader of this thread, or empty
   *     if there is neither
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
   * Returns the authorities that connections with TLS trust.
   *
   * @return empty for those of the JVM
   */
  public Optional<TrustManagerFactory> trustManagers() {
    return Optional.ofNullable(trustManagers);
  }

  /**
   * Returns the certificate that connections with TLS show to the server.
   *
   * @return empty for none
   */
  public Optional<KeyManagerFactory> keyManagers() {
    return Optional.ofNullable(keyManagers);
  }

  /**
   * Returns the wall clock.
   *
   * @return empty for that of the machine
   */
  public Optional<InstantSource> wallClock() {
    return Optional.ofNullable(wallClock);
  }

  /**
   * Refuses trust and key managers, for a backend that does not apply them.
   *
   * @param backend the backend's name
   * @throws LockConfigurationException if there are some, which would have no effect
   */
  public void requireNoTls(String backend) {
    if (trustManagers != null || keyManagers != null) {
      throw new LockConfigurationException(
          "the backend '"
              + backend
              + "' takes no trust or key managers: leave them out, or use a driver of Redlock that"
              + " takes them");
    }
  }

  /**
   * Refuses settings that a backend cannot apply, because it was written for URLs alone.
   *
   * @param backend the backend's name
   * @throws LockConfigurationException if a setting would have no effect
   */
  void requireNoneFor(String backend) {
    requireNoTls(backend);
    if (callbackExecutor != null) {
      throw untaken(backend, "callback executor: leave it out");
    }
    if (wallClock != null) {
      throw untaken(backend, "wall clock: leave it out");
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
