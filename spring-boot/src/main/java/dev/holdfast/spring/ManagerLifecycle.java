package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * The end of a manager at shutdown. Executors and schedulers stop earlier, so that their last tasks
 * still get locks.
 */
final class ManagerLifecycle implements SmartLifecycle {
  /** Below the phase of executors and schedulers: lower phases stop later. */
  static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;

  private final LockManager manager;
  private final Duration grace;
  private volatile boolean running;
  private volatile boolean isClosed;

  ManagerLifecycle(LockManager manager, Duration grace) {
    this.manager = manager;
    this.grace = grace;
  }

  /**
   * Starts nothing: the manager is open since its creation.
   *
   * @throws IllegalStateException if the manager was stopped
   */
  @Override
  public void start() {
    if (isClosed) {
      throw new IllegalStateException(
          "a lock manager that was stopped does not start again; create a new context");
    }
    running = true;
  }

  @Override
  public void stop() {
    isClosed = true;
    try {
      manager.close(grace);
    } finally {
      running = false;
    }
  }

  /** Closes on a thread of its own, so that other beans of the phase stop meanwhile. */
  @Override
  public void stop(Runnable callback) {
    Runnable close =
        () -> {
          try {
            stop();
          } finally {
            callback.run();
          }
        };
    new Thread(close, "holdfast-close").start();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** Returns false: a paused context keeps its locks. */
  @Override
  public boolean isPauseable() {
    return false;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }

  Duration grace() {
    return grace;
  }
}
