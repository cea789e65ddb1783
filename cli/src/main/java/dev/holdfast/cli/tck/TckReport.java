package dev.holdfast.cli.tck;

import dev.holdfast.cli.command.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder for the files about a run of the kit. */
record TckReport(Path folder) {
  static final String PAGE = "report.html";
  static final String XML = "TEST-holdfast-tck.xml";

  /**
   * Makes a folder if needed.
   *
   * @throws UsageException if it cannot be written
   */
  static TckReport in(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UsageException(
          "--report is " + folder + ", and no folder can be made there: give one that can be");
    }
    if (!Files.isWritable(folder)) {
      throw new UsageException("--report is " + folder + ", which cannot be written");
    }
    return new TckReport(folder);
  }

  /**
   * Writes both, and returns the page.
   *
   * @throws UsageException if they cannot be written
   */
  Path write(TckResult result) {
    try {
      Files.writeString(folder.resolve(XML), TckXml.of(result));
      return Files.writeString(folder.resolve(PAGE), TckPage.of(result));
    } catch (IOException e) {
      throw new UsageException("--report is " + folder + ", and cannot be written to: " + e);
    }
  }
}
