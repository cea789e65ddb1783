package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * A builder of a manager from a URL, with options and settings in code. {@link LockManager#builder}
 * returns one. Not safe for use by many threads.
 *
 * <pre>{@code
 * LockManager locks =
 *     LockManager.builder("redlock:redis://h1,redis://h2,redis://h3")
 *         .option("keyPrefix", "orders:")
 *         .callbackExecutor(executor)
 *         .open();
 * }</pre>
 */
public final class ManagerBuilder {
  private final String url;
  private final Map<String, String> options = new LinkedHashMap<>();
  private OpenSettings settings = OpenSettings.none();
  private @Nullable Iterable<? extends LockProvider> providers;

  ManagerBuilder(String url) {
    this.url = Objects.requireNonNull(url, "url");
  }

  /**
   * Sets an option, in place of the same option of the URL.
   *
   * @param name the option's name, such as {@code keyPrefix}
   * @param value the value as it is, not percent-encoded
   * @return this builder
   */
  public ManagerBuilder option(String name, String value) {
    options.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
    return this;
  }

  /**
   * Sets options, in place of the same options of the URL.
   *
   * @param more names and values as they are, not percent-encoded
   * @return this builder
   */
  public ManagerBuilder options(Map<String, String> more) {
    more.forEach(this::option);
    return this;
  }

  /**
   * Sets the executor on which users' futures and their dependent stages complete. Callbacks may
   * block there, and delay no lease. A task that the executor refuses runs on a thread of the
   * manager's own. The manager does not shut the executor down.
   *
   * @param executor default: daemon threads of the manager's own, as many as are needed
   * @return this builder
   */
  public ManagerBuilder callbackExecutor(Executor executor) {
    settings = settings.callbackExecutor(executor);
    return this;
  }

  /**
   * Adds a listener, which is notified from the opening on, also of the nodes to which the manager
   * connects, and of the first request. It listens until the manager is closed. To remove a
   * listener earlier, use {@link LockManager#addListener}.
   *
   * @param listener called inline, by the rules of {@link LockListener}. Each call of this method
   *     adds one
   * @return this builder
   */
  public ManagerBuilder listener(LockListener listener) {
    settings = settings.listener(listener);
    return this;
  }

  /**
   * Sets the class loader by which backends are found, in addition to that of the API. For
   * containers whose threads have another context class loader than the application.
   *
   * @param loader default: the context class loader of the thread that opens the manager
   * @return this builder
   */
  public ManagerBuilder classLoader(ClassLoader loader) {
    settings = settings.classLoader(loader);
    return this;
  }

  /**
   * Sets the authorities that connections with TLS ({@code rediss://}) trust, in place of those of
   * the JVM.
   *
   * @param factory initialised, for example with a key store that holds a private authority
   * @return this builder
   */
  public ManagerBuilder trustManagers(TrustManagerFactory factory) {
    settings = settings.trustManagers(factory);
    return this;
  }

  /**
   * Sets the certificate that connections with TLS ({@code rediss://}) show to the server.
   *
   * @param factory initialised with a key store that holds the certificate and its key
   * @return this builder
   */
  public ManagerBuilder keyManagers(KeyManagerFactory factory) {
    settings = settings.keyManagers(factory);
    return this;
  }

  /**
   * Sets the wall clock, for tests of what a program does when a lock's time has passed, as after a
   * laptop slept. Leases end by this clock or by the monotonic one, whichever is earlier. Fencing
   * tokens are made of its time, too.
   *
   * @param clock default: that of the machine
   * @return this builder
   */
  public ManagerBuilder wallClock(InstantSource clock) {
    settings = settings.wallClock(clock);
    return this;
  }

  /**
   * Sets the backends to choose from, instead of those that are found.
   *
   * @param backends perhaps a {@link java.util.ServiceLoader}
   * @return this builder
   */
  public ManagerBuilder providers(Iterable<? extends LockProvider> backends) {
    providers = Objects.requireNonNull(backends, "backends");
    return this;
  }

  /**
   * Opens a manager. Connects, unless the options say {@code connect=lazy}. May be called again,
   * for another manager. Blocks while it connects, so do not call it inside a {@link LockListener}.
   *
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if the URL or an option is wrong, or no backend, or more
   *     than one, is found for it, or the backend cannot apply a setting
   * @throws LockOutageException if no quorum of nodes can be reached in time
   */
  public LockManager open() {
    Providers backends =
        providers == null ? Providers.found(settings.classLoader()) : Providers.given(providers);
    return backends.open(LockUrl.parse(url, options), settings);
  }
}
