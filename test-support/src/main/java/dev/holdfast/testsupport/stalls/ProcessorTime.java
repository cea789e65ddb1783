package dev.holdfast.testsupport.stalls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The use of the processors' time, from {@code /proc/stat} of Linux. */
final class ProcessorTime {
  /** {@code cpu user nice system idle iowait irq softirq steal}. Guests' time is in user's. */
  private static final int STEAL = 8;

  /** A tick is 10 ms, mostly. */
  private static final int LEAST_TICKS = 10;

  private final Path file;

  /** Ticks of all processors since the machine was started, and how many of them others got. */
  record Sample(long all, long stolen) {
    /**
     * Returns the share of the time since then that others got, or 0 if that was too little to
     * know.
     */
    double stolenSince(Sample earlier) {
      long ticks = stolen - earlier.stolen;
      return ticks < LEAST_TICKS ? 0 : (double) ticks / (all - earlier.all);
    }
  }

  ProcessorTime(Path file) {
    this.file = file;
  }

  static ProcessorTime ofThisMachine() {
    return new ProcessorTime(Path.of("/proc/stat"));
  }

  /** Zeroes, on a machine that does not tell. */
  Sample sample() {
    try {
      String[] fields = Files.readAllLines(file).get(0).split(" +");
      long all = Arrays.stream(fields).skip(1).limit(STEAL).mapToLong(Long::parseLong).sum();
      return new Sample(all, Long.parseLong(fields[STEAL]));
    } catch (IOException | RuntimeException e) {
      return new Sample(0, 0);
    }
  }
}
