package dev.holdfast;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Something must be changed by a person before this can work: a URL, an option, a ttl, credentials
 * or rights, a key of another type, a replica or the same server listed twice, or a capability that
 * the backend does not have. Trying again does not help.
 */
public final class LockConfigurationException extends LockException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what is wrong.
   *
   * @param message the offending part and what is right instead; never a password
   */
  public LockConfigurationException(String message) {
    this(message, null);
  }

  /**
   * Says what is wrong, and where that was seen.
   *
   * @param message the offending part and what is right instead; never a password
   * @param cause where it was seen
   */
  public LockConfigurationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  @Override
  LockConfigurationException copy(UnaryOperator<Throwable> causes) {
    return new LockConfigurationException(String.valueOf(getMessage()), cause(causes));
  }
}
