package dev.holdfast.testnodes;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Where the servers come from. A further kind of source gets its factory method here; one whose
 * servers are no processes of this machine, such as containers, also needs a counterpart of {@code
 * ServerProcess}.
 */
@FunctionalInterface
public interface NodeSource {
  /**
   * The system property that names the default source: {@code embedded} (as when it is unset),
   * {@code path}, or the file name of a server.
   */
  String PROPERTY = "holdfast.testNodes";

  /**
   * The server to run, ready to be executed.
   *
   * @throws NodeException if there is none; the message says what else would serve
   */
  Path executable();

  /** The redis-server 6.2 that the library embedded-redis carries for this system. */
  static NodeSource embedded() {
    return EmbeddedBinary::extracted;
  }

  /** The first {@code redis-server} on the PATH. */
  static NodeSource onPath() {
    return () -> {
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
    };
  }

  /** This file, a redis-server or valkey-server 6.2 or later. */
  static NodeSource binary(Path file) {
    return file::toAbsolutePath;
  }

  /** What the system property {@value #PROPERTY} names. */
  static NodeSource byDefault() {
    String name = System.getProperty(PROPERTY, "embedded");
    return switch (name) {
      case "", "embedded" -> embedded();
      case "path" -> onPath();
      default -> binary(Path.of(name));
    };
  }
}
