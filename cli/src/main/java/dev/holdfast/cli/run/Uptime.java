package dev.holdfast.cli.run;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** Linux's clock of the time since the machine was started, in which it also slept. */
final class Uptime {
  private static final Path FILE = Path.of("/proc/uptime");

  private Uptime() {}

  /** Returns milliseconds, or empty where there is no such clock. */
  static OptionalLong now() {
    try {
      return OptionalLong.of(parse(Files.readString(FILE)));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Parses "seconds.hundredths idle". */
  static long parse(String text) {
    return new BigDecimal(text.split(" ", 2)[0]).movePointRight(3).longValueExact();
  }
}
