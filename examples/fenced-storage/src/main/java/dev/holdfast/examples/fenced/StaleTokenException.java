package dev.holdfast.examples.fenced;

/** Somebody whose lock is over tried to write. What he wanted to write is in nobody's way. */
public final class StaleTokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StaleTokenException(String document, long token) {
    super(
        "'"
            + document
            + "' was written by a later holder than the one of token "
            + token
            + ": read it again, under a new lock");
  }
}
