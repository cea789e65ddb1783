package dev.holdfast;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A mistake that a person has to correct: in a URL, an option, a ttl, credentials or rights, a key
 * of another type, a replica or the same server listed twice, or a capability that the backend does
 * not have. Another try does not help.
 */
public final class LockConfigurationException extends LockException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception without a cause.
   *
   * @param message the offending part and what is right instead, never a password
   */
  public LockConfigurationException(String message) {
    this(message, null);
  }

  /**
   * Creates an exception with a cause.
   *
   * @param message the offending part and what is right instead, never a password
   * @param cause the error that showed the mistake, or null if there is none
   */
  public LockConfigurationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  @Override
  LockConfigurationException copy(UnaryOperator<Throwable> causes) {
    return new LockConfigurationException(String.valueOf(getMessage()), cause(causes));
  }
}
