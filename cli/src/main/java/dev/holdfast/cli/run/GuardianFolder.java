package dev.holdfast.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The guardian's script and its named pipes, in a folder that no other user can enter. A JVM gives
 * a child nothing but stdin, stdout and stderr, and these three are the command's.
 */
record GuardianFolder(Path path) {
  private static final long LIMIT_SECONDS = 10;

  /** Docker leaves the second one writable where the root file system is not. */
  private static final List<Path> PLACES =
      List.of(Path.of(System.getProperty("java.io.tmpdir")), Path.of("/dev/shm"));

  // "pkill -f holdfast" is meant for holdfast, and must not find the guardian.
  private static final String PREFIX = "guardian-";

  static GuardianFolder make() throws IOException, InterruptedException {
    Path place = PLACES.stream().filter(Files::isWritable).findFirst().orElse(PLACES.get(0));
    GuardianFolder folder = new GuardianFolder(Files.createTempDirectory(place, PREFIX));
    try {
      folder.fill();
      return folder;
    } catch (IOException | InterruptedException | Error e) {
      folder.delete();
      throw e;
    }
  }

  Path script() {
    return path.resolve("guardian");
  }

  /** Returns the pipe that the guardian reads. */
  Path control() {
    return path.resolve("control");
  }

  /** Returns the pipe that the guardian writes. */
  Path report() {
    return path.resolve("report");
  }

  /** Returns the pipe that nothing is written to: the guardian waits for it to let time pass. */
  Path pause() {
    return path.resolve("pause");
  }

  /** Deletes it. A process that has opened its files does not need it any more. */
  void delete() throws IOException {
    for (Path file : List.of(script(), control(), report(), pause(), path)) {
      Files.deleteIfExists(file);
    }
  }

  private void fill() throws IOException, InterruptedException {
    try (InputStream text = GuardianFolder.class.getResourceAsStream("guardian.bash")) {
      Files.copy(Objects.requireNonNull(text), script());
    }
    Process made =
        new ProcessBuilder("mkfifo", "-m", "600", "" + control(), "" + report(), "" + pause())
            .redirectErrorStream(true)
            .start();
    if (!made.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      made.destroyForcibly();
      throw new IOException("mkfifo did not end within " + LIMIT_SECONDS + " s");
    }
    if (made.exitValue() != 0) {
      throw new IOException(new String(made.getInputStream().readAllBytes(), UTF_8).strip());
    }
  }
}
