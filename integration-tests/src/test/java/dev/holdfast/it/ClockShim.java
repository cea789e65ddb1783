package dev.holdfast.it;

import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Wall clocks that are wrong, each of one process. Needs a library, by the system property {@value
 * #PROPERTY}: it is preloaded, and reads microseconds from the file that CLOCK_SHIM_FILE names.
 */
public record ClockShim(String library) {
  private static final String PROPERTY = "holdfast.clockShim";
  private static final int PAGE = 4096;

  /** The one that was given. */
  public static Optional<ClockShim> given() {
    return Optional.of(System.getProperty(PROPERTY, ""))
        .filter(library -> !library.isEmpty())
        .map(ClockShim::new);
  }

  /** Sets a clock, by its file. The process sees it at once. */
  public static void set(Path file, Duration error) {
    ByteBuffer page = ByteBuffer.allocate(PAGE).order(ByteOrder.nativeOrder());
    page.putLong(TimeUnit.NANOSECONDS.toMicros(error.toNanos()));
    // written over, because the process has it in its memory
    try (RandomAccessFile shared = new RandomAccessFile(file.toFile(), "rw")) {
      shared.write(page.array());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The environment of a process with such a clock. */
  public Map<String, String> environment(Path file) {
    return Map.of("LD_PRELOAD", library, "CLOCK_SHIM_FILE", file.toString());
  }

  /** Servers with such clocks, which are right at first. {@link #ofNode} is the file of each. */
  public NodeSource servers(Path folder) throws IOException {
    // a server may be one of many programs in a file, and goes by the name that it is called by
    Path named = Files.createDirectories(folder.resolve("named")).resolve("redis-server");
    Files.createSymbolicLink(named, defaultServer());
    Path wrapper = folder.resolve("redis-server");
    Files.writeString(
        wrapper,
        """
        #!/bin/sh
        clock="${1%%/*}/clock"
        [ -f "$clock" ] || head -c %d /dev/zero > "$clock"
        LD_PRELOAD='%s' CLOCK_SHIM_FILE="$clock" exec '%s' "$@"
        """
            .formatted(PAGE, library, named));
    Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwx------"));
    return NodeSource.binary(wrapper);
  }

  /** Returns the file that sets the clock of one of a folder's nodes. */
  public static Path ofNode(Path folder, int index) {
    return folder.resolve("node-" + index).resolve("clock");
  }

  private static Path defaultServer() {
    try (TestNodes nodes = TestNodes.start(1)) {
      return Path.of(
          ProcessHandle.of(nodes.node(0).pid()).flatMap(p -> p.info().command()).orElseThrow());
    }
  }
}
