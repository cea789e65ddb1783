package dev.holdfast.cli;

import dev.holdfast.benchmarks.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where a run of the bench is written.
 *
 * @param folder is there
 */
record BenchFiles(Path folder) {
  /** Before anything is measured, so that nothing is measured in vain. */
  static BenchFiles in(Path folder) {
    try {
      return new BenchFiles(Files.createDirectories(folder));
    } catch (IOException e) {
      throw new UsageException("--report is " + folder + ", and cannot be made a folder: " + e);
    }
  }

  /** In place of what was there. */
  void write(Report report) {
    try {
      Files.writeString(folder.resolve("bench.md"), BenchMarkdown.of(report));
      Files.writeString(folder.resolve("bench.csv"), BenchCsv.of(report));
      Files.writeString(folder.resolve("bench.html"), BenchPage.of(report));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String text() {
    return "Written: " + folder.resolve("bench.html") + ", bench.md and bench.csv beside it";
  }
}
