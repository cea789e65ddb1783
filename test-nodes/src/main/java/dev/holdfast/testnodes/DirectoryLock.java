package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Keeps two processes from starting or stopping nodes in one directory at the same time. */
final class DirectoryLock {
  private static final String NAME = "nodes.lock";

  private DirectoryLock() {}

  /**
   * Does the work while holding the lock, which the system releases if this process dies.
   *
   * @throws NodeException if the lock is held already
   */
  static <T> T during(Path directory, Supplier<T> work) {
    // A file channel refuses to work for an interrupted thread, which must be able to clean up.
    boolean interrupted = Thread.interrupted();
    try (FileChannel channel =
        FileChannel.open(
            directory.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      if (tryLock(channel) == null) {
        throw new NodeException(
            "Nodes are being started or stopped in "
                + directory
                + " now: try again when that is over.");
      }
      return work.get();
    } catch (IOException e) {
      throw new NodeException("Cannot lock the directory " + directory + ": " + e, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  static void during(Path directory, Runnable work) {
    during(
        directory,
        () -> {
          work.run();
          return true;
        });
  }

  /** Removes the file of the lock. A holder of the lock still holds it. */
  static void delete(Path directory) throws IOException {
    Files.deleteIfExists(directory.resolve(NAME));
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }
}
