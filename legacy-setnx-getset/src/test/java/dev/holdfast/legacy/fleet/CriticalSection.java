package dev.holdfast.legacy.fleet;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * The judge: a place for one at a time, in the file system, which knows nothing of locks. A process
 * that enters links its own file to the place. To find one there is a violation, with two
 * exceptions. The owner of that file has left it behind, and the time until which others had to
 * keep out is over. Or the process that finds it has no time left itself, because it stood still on
 * its way in.
 */
final class CriticalSection {
  private final Path place;
  private final Path violations;
  private final Path mine;
  private String inside = "";

  /**
   * Joins in.
   *
   * @param folder the same for all
   * @param who a name that no other process has
   */
  CriticalSection(Path folder, String who) {
    this.place = folder.resolve("place");
    this.violations = folder.resolve("violations");
    this.mine = folder.resolve(who);
  }

  /**
   * Goes in.
   *
   * @param until Unix time in milliseconds: no other process may come in before, should this one be
   *     killed inside, and this one does not come in afterwards
   */
  void enter(long until) throws IOException {
    String entry = until + " " + mine.getFileName() + " since " + System.currentTimeMillis();
    inside = "";
    Files.deleteIfExists(mine);
    Files.writeString(mine, entry);
    while (System.currentTimeMillis() < until) {
      try {
        Files.createLink(place, mine);
        inside = entry;
        return;
      } catch (FileAlreadyExistsException occupied) {
        String other = occupant();
        long now = System.currentTimeMillis();
        if (until <= now) {
          return;
        }
        if (untilOf(other) > now) {
          violation("met", other);
          return;
        }
        Files.deleteIfExists(place);
      }
    }
  }

  /** Goes out again. */
  void leave() throws IOException {
    if (inside.isEmpty()) {
      return;
    }
    String now = occupant();
    if (now.equals(inside)) {
      Files.deleteIfExists(place);
    } else if (untilOf(inside) > System.currentTimeMillis()) {
      violation("was thrown out by", now);
    }
  }

  /** Each time that two were in. */
  List<String> violations() throws IOException {
    return Files.exists(violations) ? Files.readAllLines(violations) : List.of();
  }

  /**
   * Returns the process inside. One that has left in the meantime was inside when this call began.
   */
  private String occupant() throws IOException {
    try {
      return Files.readString(place);
    } catch (NoSuchFileException left) {
      return Long.MAX_VALUE + " somebody";
    }
  }

  private static long untilOf(String entry) {
    return Long.parseLong(entry.substring(0, entry.indexOf(' ')));
  }

  private void violation(String what, String other) throws IOException {
    String line = System.currentTimeMillis() + ": " + mine.getFileName() + " " + what + " " + other;
    Files.writeString(violations, line + "\n", CREATE, APPEND);
  }
}
