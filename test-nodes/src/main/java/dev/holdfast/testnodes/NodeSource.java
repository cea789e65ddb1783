package dev.holdfast.testnodes;

import java.nio.file.Path;

/** The source of the servers. Nothing is looked for before nodes are started. */
public sealed interface NodeSource permits ExecutableSource, ContainerSource {
  /**
   * The system property that names the default source: {@code embedded} (as when it is unset),
   * {@code path}, {@code docker}, {@code docker:} and an image, or the file name of a server.
   */
  String PROPERTY = "holdfast.testNodes";

  /** Returns the redis-server 6.2 that the library embedded-redis carries for this system. */
  static NodeSource embedded() {
    return new ExecutableSource(EmbeddedBinary::extracted);
  }

  /** Returns the first {@code redis-server} on the PATH. */
  static NodeSource onPath() {
    return new ExecutableSource(ExecutableSource::onPath);
  }

  /** Returns this file, which must be a redis-server or valkey-server 6.2 or later. */
  static NodeSource binary(Path file) {
    return new ExecutableSource(file::toAbsolutePath);
  }

  /**
   * Returns a source of containers of the image {@code redis:7}, as {@link #containers(String)}
   * does.
   */
  static NodeSource containers() {
    return containers(ContainerSource.DEFAULT_IMAGE);
  }

  /**
   * Returns a source that starts one container for each node, on the Docker engine that
   * Testcontainers finds. Its optional dependency {@code org.testcontainers:testcontainers} must be
   * on the class path. Such nodes keep no files on this machine, and cannot be detached. A node is
   * paused when it is frozen. When this JVM is killed with SIGKILL, Testcontainers' own reaper
   * removes the containers.
   *
   * @param image with a {@code redis-server} 6.2 or later on its PATH, such as {@code redis:8} or
   *     {@code valkey/valkey:9}. It is pulled if it is not there.
   */
  static NodeSource containers(String image) {
    return new ContainerSource(image);
  }

  /** Returns the source that the system property {@value #PROPERTY} names. */
  static NodeSource byDefault() {
    String name = System.getProperty(PROPERTY, "embedded");
    if (name.startsWith(ContainerSource.PREFIX)) {
      return containers(name.substring(ContainerSource.PREFIX.length()));
    }
    return switch (name) {
      case "", "embedded" -> embedded();
      case "path" -> onPath();
      case "docker" -> containers();
      default -> binary(Path.of(name));
    };
  }
}
