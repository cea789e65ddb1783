package dev.holdfast.junit;

/**
 * The state of a test's locks when it failed. Suppressed in the failure, so that runners show it.
 */
final class LocksAtFailure extends Exception {
  private static final long serialVersionUID = 1L;

  LocksAtFailure(String message) {
    super(message, null, false, false);
  }
}
