package dev.holdfast.redlock;

import java.util.logging.Logger;

/** A full disk, on which each entry of Redlock's log fails. */
public final class FullDisk {
  public static final String MESSAGE = "the disk is full";

  private FullDisk() {}

  /** Runs a task while the disk is full. */
  public static void during(Runnable task) {
    Logger logger = Logger.getLogger(Redlock.class.getName());
    logger.setFilter(
        entry -> {
          throw new IllegalStateException(MESSAGE);
        });
    try {
      task.run();
    } finally {
      logger.setFilter(null);
    }
  }
}
