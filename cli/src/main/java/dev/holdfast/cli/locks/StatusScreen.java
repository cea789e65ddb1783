package dev.holdfast.cli.locks;

import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.terminal.Terminal;

/** The screen on which a lock is watched. */
interface StatusScreen extends AutoCloseable {
  /** Shows how things stand. */
  void show(LockState state);

  /** Leaves the terminal as it was. */
  @Override
  void close();

  /** Returns the screen that suits this terminal, if it is one. */
  static StatusScreen of(boolean json) {
    return !json && Terminal.canRedraw()
        ? new StatusTable(System.out)
        : new StatusLines(System.out, json);
  }
}
