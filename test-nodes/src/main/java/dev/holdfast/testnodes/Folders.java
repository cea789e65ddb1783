package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Deleting what the nodes wrote. */
final class Folders {
  private Folders() {}

  /** Deletes a file, or a folder with all that is in it; fine if it is not there. */
  static void delete(Path path) throws IOException {
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
