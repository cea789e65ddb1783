package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The root of what can go wrong with a lock. Exactly one of its four kinds is thrown, so that
 * contention, outage, loss and misconfiguration are never confused.
 */
public abstract sealed class LockException extends RuntimeException
    permits LockUnavailableException,
        LockBackendException,
        LockLostException,
        LockConfigurationException {
  private static final long serialVersionUID = 1L;

  LockException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
