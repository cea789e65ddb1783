package dev.holdfast.core;

/** The end of calls after their manager was closed. Users see an {@link IllegalStateException}. */
final class ManagerClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  ManagerClosedException() {
    super("this LockManager is closed");
  }
}
