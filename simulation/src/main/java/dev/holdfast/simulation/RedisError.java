package dev.holdfast.simulation;

/** An error reply of a simulated node. */
final class RedisError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RedisError(String text) {
    super(text, null, false, false);
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
