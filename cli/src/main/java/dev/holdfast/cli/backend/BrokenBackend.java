package dev.holdfast.cli.backend;

import dev.holdfast.spi.LockProvider;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A backend that is there and cannot be used.
 *
 * @param type its provider, if that much is known
 */
record BrokenBackend(Optional<Class<? extends LockProvider>> type, Throwable failure) {
  /** Returns the failure with its causes. */
  String why() {
    StringBuilder why = new StringBuilder();
    if (failure instanceof IncompatibleClassChangeError) {
      why.append("made for another version of Holdfast's API: ");
    }
    why.append(failure);
    for (@Nullable Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      why.append("; because of ").append(cause);
    }
    return why.toString();
  }
}
