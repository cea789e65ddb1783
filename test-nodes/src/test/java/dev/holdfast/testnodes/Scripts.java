package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Shell scripts that stand in for servers that do not behave. */
final class Scripts {
  private Scripts() {}

  static Path executable(Path file, String commands) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + commands + "\n");
    makeExecutable(file);
    return file;
  }

  static void makeExecutable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
