package dev.holdfast.testnodes;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * A server that is executed on this machine.
 *
 * @param file gives its path, or throws a NodeException that says what else would serve
 */
record ExecutableSource(Supplier<Path> file) implements NodeSource {
  /** Returns the server, after a check that it runs here. */
  ServerBinary binary() {
    if (File.separatorChar == '\\') {
      throw new NodeException(
          "Nodes are frozen and killed by signals, which Windows does not have: use WSL, or"
              + " containers (-D"
              + PROPERTY
              + "=docker).");
    }
    return ServerBinary.probe(file.get());
  }

  static Path onPath() {
    String path = System.getenv().getOrDefault("PATH", "");
    return Pattern.compile(Pattern.quote(File.pathSeparator))
        .splitAsStream(path)
        .map(folder -> Path.of(folder, "redis-server").toAbsolutePath())
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(
            () ->
                new NodeException(
                    "There is no redis-server on the PATH ("
                        + path
                        + "). Install one (Debian and Ubuntu: apt-get install redis-server). "
                        + ServerBinary.WHAT_ELSE_WOULD_SERVE));
  }
}
