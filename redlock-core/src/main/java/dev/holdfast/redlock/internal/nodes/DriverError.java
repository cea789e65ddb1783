package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redis.Causes;
import dev.holdfast.redis.ServerError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The text of a driver's exception. All callers that ask while a node is down get the same cause.
 * They could add to the driver's own exception, but not to this one.
 */
final class DriverError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String text;

  private DriverError(Throwable thrown, @Nullable DriverError cause) {
    super(withoutArguments(thrown.getMessage()), cause, false, false);
    this.text = ServerError.withoutArguments(thrown.toString());
  }

  /** Returns the texts of an exception and of its causes. */
  static @Nullable DriverError of(@Nullable Throwable thrown) {
    List<Throwable> chain = thrown == null ? List.of() : new ArrayList<>(Causes.of(thrown));
    Collections.reverse(chain);
    DriverError cause = null;
    for (Throwable at : chain) {
      cause = new DriverError(at, cause);
    }
    return cause;
  }

  private static @Nullable String withoutArguments(@Nullable String message) {
    return message == null ? null : ServerError.withoutArguments(message);
  }

  @Override
  public String toString() {
    return text;
  }
}
