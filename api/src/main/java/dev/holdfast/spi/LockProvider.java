package dev.holdfast.spi;

import dev.holdfast.LockManager;

/**
 * A backend, as {@link java.util.ServiceLoader} finds it. An implementation has a public
 * constructor without parameters, does nothing in it, and is declared in {@code
 * META-INF/services/dev.holdfast.spi.LockProvider} and in its {@code module-info}.
 *
 * <p>Implementations are stateless and safe for use by many threads.
 */
public interface LockProvider {
  /**
   * Returns the backend's short name, as URLs and messages show it.
   *
   * @return for example {@code lettuce} or {@code memory}, in lower case
   */
  String name();

  /**
   * Returns whether this backend serves a URL. Reads the URL alone, without input or output. The
   * default accepts a URL whose scheme is {@link #name()} and that names no driver.
   *
   * @param url the URL
   * @return true if {@link #open} would serve it
   */
  default boolean accepts(LockUrl url) {
    return url.scheme().equals(name()) && url.driver().isEmpty();
  }

  /**
   * Opens a manager.
   *
   * @param url a URL that this provider accepts
   * @return a new manager, which the caller closes
   * @throws dev.holdfast.LockConfigurationException if the URL or an option is wrong
   * @throws dev.holdfast.LockOutageException if the backend cannot be reached
   */
  LockManager open(LockUrl url);

  /**
   * Opens a manager with settings that a program gives in code. A backend that does not implement
   * this method refuses settings that would have no effect.
   *
   * @param url a URL that this provider accepts
   * @param settings the executor of callbacks, and others
   * @return a new manager, which the caller closes
   * @throws dev.holdfast.LockConfigurationException if the URL, an option or a setting is wrong
   * @throws dev.holdfast.LockOutageException if the backend cannot be reached
   */
  default LockManager open(LockUrl url, OpenSettings settings) {
    settings.requireNoneFor(name());
    return open(url);
  }
}
