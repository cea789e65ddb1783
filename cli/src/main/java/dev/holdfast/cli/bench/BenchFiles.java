package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Report;
import dev.holdfast.cli.command.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The folder for the results of a bench.
 *
 * @param folder is there
 */
record BenchFiles(Path folder) {
  /** Creates the folder before anything is measured, so that no measurement is lost. */
  static BenchFiles in(Path folder) {
    try {
      return new BenchFiles(Files.createDirectories(folder));
    } catch (IOException e) {
      throw new UsageException("--report is " + folder + ", and cannot be made a folder: " + e);
    }
  }

  /** Replaces the existing files. Each file is whole, even if the run is ended at any time. */
  void write(Report report) {
    replace("bench.md", BenchMarkdown.of(report));
    replace("bench.csv", BenchCsv.of(report));
    replace("bench.html", BenchPage.of(report));
  }

  private void replace(String file, String text) {
    try {
      Path written = Files.writeString(folder.resolve(file + ".part"), text);
      Files.move(written, folder.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UsageException("--report is " + folder + ", and cannot be written to: " + e);
    }
  }

  String text() {
    return "Written: " + folder.resolve("bench.html") + ", bench.md and bench.csv beside it";
  }
}
