package dev.holdfast.cli.locks;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Signals;
import java.time.Duration;

/** Follows a lock, through outages too, until a signal comes or its output is closed. */
record StatusWatch(Backend backend, String name, Duration interval, boolean json) {
  /** The signal to a process that writes to a closed pipe. */
  private static final int SIGPIPE = 13;

  int exitCode() throws InterruptedException {
    Signals signals = Signals.handled();
    try (LockManager locks = backend.lazy().open();
        StatusScreen screen = StatusScreen.of(json)) {
      while (!System.out.checkError()) {
        long begun = System.nanoTime();
        screen.show(LockState.orOutage(locks, name));
        Duration taken = Duration.ofNanos(System.nanoTime() - begun);
        signals.pause(Math.max(1, interval.minus(taken).toMillis()));
      }
      return ExitCode.ofSignal(SIGPIPE);
    } catch (Signals.Signalled e) {
      return ExitCode.ofSignal(e.signal().number());
    }
  }
}
