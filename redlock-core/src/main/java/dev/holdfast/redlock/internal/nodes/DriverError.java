package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redis.Causes;
import dev.holdfast.redis.ServerError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A driver's exception as text: its class and its message. All callers that ask while a node is
 * down get the same cause. They could add to the driver's own exception, but not to this one.
 */
final class DriverError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private DriverError(Throwable thrown, @Nullable DriverError cause) {
    super(ServerError.withoutArguments(thrown.toString()), cause, false, false);
  }

  /** Returns the texts of an exception and of its causes, or null for none. */
  static @Nullable DriverError of(@Nullable Throwable thrown) {
    List<Throwable> chain = thrown == null ? List.of() : new ArrayList<>(Causes.of(thrown));
    Collections.reverse(chain);
    DriverError cause = null;
    for (Throwable at : chain) {
      cause = new DriverError(at, cause);
    }
    return cause;
  }
}
