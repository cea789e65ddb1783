package dev.holdfast.examples.fenced;

/** A holder whose lock is over tried to write, and a later holder had written before. */
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
