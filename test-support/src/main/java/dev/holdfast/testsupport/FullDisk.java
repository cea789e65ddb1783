package dev.holdfast.testsupport;

import java.util.logging.Logger;

/** A full disk, on which each entry of a log fails. */
public final class FullDisk {
  public static final String MESSAGE = "the disk is full";

  private FullDisk() {}

  /** A task that may throw. */
  public interface Task<X extends Exception> {
    void run() throws X;
  }

  /**
   * Runs a task while the disk is full.
   *
   * @param logging the class of which the log fails
   */
  public static <X extends Exception> void during(Class<?> logging, Task<X> task) throws X {
    Logger logger = Logger.getLogger(logging.getName());
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
