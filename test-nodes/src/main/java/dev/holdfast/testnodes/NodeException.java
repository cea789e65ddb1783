package dev.holdfast.testnodes;

import org.jspecify.annotations.Nullable;

/** A node could not be started, signalled or reached. The message names it and says what to do. */
public final class NodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NodeException(String message) {
    super(message);
  }

  NodeException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
