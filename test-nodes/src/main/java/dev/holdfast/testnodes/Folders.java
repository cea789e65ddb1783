package dev.holdfast.testnodes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Deleting what the nodes wrote. */
final class Folders {
  private static final int TRIES = 40;
  private static final long PAUSE_NANOS = 50_000_000;

  private Folders() {}

  /**
   * Deletes a file, or a folder with its content. Does nothing if it does not exist. The child of a
   * server that was killed while it saved can outlive the server for a short time and still write.
   */
  static void delete(Path path) throws IOException {
    for (int left = TRIES - 1; ; left--) {
      try {
        deleteOnce(path);
        return;
      } catch (DirectoryNotEmptyException | UncheckedIOException e) {
        if (left == 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private static void deleteOnce(Path path) throws IOException {
    List<Path> deepestFirst;
    try (Stream<Path> tree = Files.walk(path)) {
      deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
    } catch (NoSuchFileException e) {
      return;
    }
    for (Path each : deepestFirst) {
      Files.deleteIfExists(each);
    }
  }
}
