package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * The end of a manager at shutdown. It comes after the end of executors and schedulers, so that
 * their last tasks still get locks. A stopped manager does not start again.
 */
final class ManagerLifecycle implements SmartLifecycle {
  /** Below the phase of executors and schedulers: lower phases stop later. */
  static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;

  private final LockManager manager;
  private final Duration grace;
  private volatile boolean running;

  ManagerLifecycle(LockManager manager, Duration grace) {
    this.manager = manager;
    this.grace = grace;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
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
