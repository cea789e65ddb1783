package dev.holdfast.examples.shop;

/** A later holder of the lock has written the order, so that this one must not. Rolls back. */
final class StaleHolderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StaleHolderException(long order) {
    super("a later holder of the lock has written order " + order);
  }
}
