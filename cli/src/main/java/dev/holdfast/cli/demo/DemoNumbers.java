package dev.holdfast.cli.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Numbers in files that several processes change: read, think, write. Two at once lose an update,
 * and see each other's mark.
 */
record DemoNumbers(Path folder) {
  static final int COUNT = 4;

  private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  /**
   * The outcome of one change.
   *
   * @param written false if it was no longer allowed
   * @param overlapped whether another worker was in the same file
   */
  record Change(boolean written, boolean overlapped) {}

  static String name(int number) {
    return "number-" + number;
  }

  void create() throws IOException {
    for (int number = 0; number < COUNT; number++) {
      write(number, 0);
    }
  }

  long sum() throws IOException {
    long sum = 0;
    for (int number = 0; number < COUNT; number++) {
      sum += read(number);
    }
    return sum;
  }

  /**
   * Adds one, slowly.
   *
   * @param allowed asked right before the write
   */
  Change increment(int number, BooleanSupplier allowed) throws IOException {
    Path mark = folder.resolve(name(number) + ".taken");
    boolean alone = createNew(mark);
    try {
      long before = read(number);
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(SHORTEST_NANOS, LONGEST_NANOS));
      boolean written = allowed.getAsBoolean();
      if (written) {
        write(number, before + 1);
      }
      return new Change(written, !alone);
    } finally {
      if (alone) {
        Files.delete(mark);
      }
    }
  }

  private static boolean createNew(Path mark) throws IOException {
    try {
      Files.createFile(mark);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  private long read(int number) throws IOException {
    return Long.parseLong(Files.readString(folder.resolve(name(number)), US_ASCII).strip());
  }

  /** Writes in place and always the same length, so that a reader never finds half a number. */
  private void write(int number, long value) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(folder.resolve(name(number)).toFile(), "rw")) {
      file.write(String.format("%019d%n", value).getBytes(US_ASCII));
    }
  }
}
