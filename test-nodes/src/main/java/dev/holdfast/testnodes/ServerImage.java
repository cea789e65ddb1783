package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.RemoteDockerImage;

/** An image whose redis-server runs in containers, shown by having asked its version. */
record ServerImage(DockerEngine engine, RemoteDockerImage image, String name, String version) {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Map<String, String> VERSIONS = new ConcurrentHashMap<>();

  /**
   * Runs a container of it with {@code --version}, the first time in this JVM.
   *
   * @throws NodeException if that does not work, saying why, and what else would serve
   */
  static ServerImage probe(String image) {
    DockerEngine engine = DockerEngine.connect();
    RemoteDockerImage pulled = pulled(image);
    String name = pulled.get();
    String version = VERSIONS.get(name);
    if (version == null) {
      version = askVersion(pulled, name);
      VERSIONS.put(name, version);
    }
    return new ServerImage(engine, pulled, name, version);
  }

  private static RemoteDockerImage pulled(String image) {
    try {
      return DockerEngine.pulled(image);
    } catch (NodeException e) {
      throw cannotRun(image, e.getMessage(), e);
    }
  }

  private static String askVersion(RemoteDockerImage pulled, String image) {
    String output;
    try {
      output = DockerEngine.call("start the container of " + image, () -> versionOutput(pulled));
    } catch (NodeException e) {
      throw cannotRun(image, e.getMessage(), e);
    }
    Matcher version = Redis.version(output);
    if (!version.find()) {
      throw cannotRun(image, "redis-server --version printed: " + output.strip() + ".", null);
    }
    return version.group(1);
  }

  private static String versionOutput(RemoteDockerImage image) {
    try (GenericContainer<?> container = DockerEngine.container(image, "--version")) {
      container.start();
      if (!Waiting.until(LIMIT, () -> !container.isRunning())) {
        throw new NodeException("It did not end within " + LIMIT.toSeconds() + " s.");
      }
      return container.getLogs();
    }
  }

  private static NodeException cannotRun(
      String image, @Nullable String why, @Nullable Throwable cause) {
    return new NodeException(
        "Cannot run a redis-server of the image "
            + image
            + ". "
            + why
            + " Name an image with a redis-server 6.2 or later on its PATH (-D"
            + NodeSource.PROPERTY
            + "=docker:IMAGE). "
            + ServerBinary.WHAT_ELSE_WOULD_SERVE,
        cause);
  }
}
