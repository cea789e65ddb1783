package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One server as a container. Its data is in there, so that a server that is to start empty gets a
 * new one.
 */
final class ServerContainer implements Server {
  private static final String FOLDER = "/tmp/";
  private static final String CONF_FILE = FOLDER + "redis.conf";

  /** Its redis-server is the first process of the container. */
  private static final long PROCESS_ID = 1;

  private static final Duration KILL_LIMIT = Duration.ofSeconds(10);
  private static final Duration PORT_LIMIT = Duration.ofMillis(500);
  private static final Pattern PORT_TAKEN =
      Pattern.compile("port is already allocated|address already in use|Ports are not available");

  private final ServerImage image;
  private final String config;
  private final int port;
  private volatile @Nullable DockerContainer container;
  private volatile CompletableFuture<Boolean> launch = CompletableFuture.completedFuture(true);
  private volatile CompletableFuture<Boolean> removal = CompletableFuture.completedFuture(true);

  private ServerContainer(ServerImage image, String config, int port) {
    this.image = image;
    this.config = config;
    this.port = port;
  }

  /** Returns a place in containers of this image. */
  static Launch.Place<ServerContainer> place(ServerImage image, List<String> config) {
    List<String> ofItsPlace =
        List.of(
            // Reached from outside of the container, where Docker says who may.
            "bind 0.0.0.0",
            "protected-mode no",
            "port " + DockerEngine.PORT,
            "daemonize no",
            "dir " + FOLDER);
    String text = new ServerConfig(image.version(), config).text(ofItsPlace);
    return (index, port) -> new ServerContainer(image, text, port);
  }

  @Override
  public String host() {
    return image.engine().host();
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public boolean isPrepared() {
    return true;
  }

  @Override
  public void launch() {
    launch =
        DockerEngine.async(
            () -> {
              DockerContainer existing = container;
              if (existing == null) {
                startNew();
              } else {
                existing.start();
              }
              return true;
            });
  }

  @Override
  public boolean awaitReady(Duration limit) {
    try {
      DockerEngine.await("start the container of " + address(), launch);
    } catch (NodeException e) {
      if (PORT_TAKEN.matcher(String.valueOf(e.getMessage())).find()) {
        return false;
      }
      throw e;
    }
    boolean[] answers = {false};
    boolean settled =
        Waiting.until(
            limit,
            () -> {
              answers[0] = Redis.answers(host(), port, PROCESS_ID);
              return answers[0] || state() == TestNode.State.DOWN;
            });
    if (!answers[0]) {
      throw notStarted(settled ? "it ended" : "no answer within " + limit.toSeconds() + " s");
    }
    return true;
  }

  @Override
  public TestNode.State state() {
    DockerContainer present = container;
    return present == null ? TestNode.State.DOWN : present.state();
  }

  @Override
  public OptionalLong pid() {
    DockerContainer present = container;
    return present == null ? OptionalLong.empty() : present.pid();
  }

  @Override
  public void freeze() {
    DockerContainer present = container;
    if (present != null) {
      present.pause();
    }
  }

  @Override
  public void thaw() {
    DockerContainer present = container;
    if (present != null) {
      present.unpause();
    }
  }

  @Override
  public void sendKill() {
    DockerContainer present = container;
    if (present != null) {
      present.kill();
    }
  }

  @Override
  public void awaitGone() {
    if (!Waiting.until(KILL_LIMIT, () -> state() == TestNode.State.DOWN)) {
      throw new NodeException(
          address() + " is still there " + KILL_LIMIT.toSeconds() + " s after SIGKILL");
    }
    awaitPort();
  }

  @Override
  public void sendFinalKill() {
    removal =
        launch
            .exceptionally(failed -> false)
            .thenApplyAsync(launched -> remove(), DockerEngine.THREADS);
  }

  @Override
  public void awaitEnd() {
    DockerEngine.await("remove the container of " + address(), removal);
    awaitPort();
  }

  @Override
  public boolean hasData() {
    DockerContainer present = container;
    return present != null
        && present.changedPaths().stream()
            .filter(path -> path.startsWith(FOLDER))
            .anyMatch(path -> Redis.isData(path.substring(FOLDER.length())));
  }

  @Override
  public void deleteData() {
    remove();
  }

  private void startNew() {
    DockerContainer created =
        image
            .engine()
            .create(image.name(), address(), List.of(CONF_FILE), image.engine().publishedAt(port));
    container = created;
    try {
      created.write(CONF_FILE, config);
      created.start();
    } catch (NodeException e) {
      remove();
      throw e;
    }
  }

  private boolean remove() {
    DockerContainer present = container;
    if (present != null) {
      present.remove();
      container = null;
    }
    return true;
  }

  /** The engine may give the port back a moment later; after that, another process has it. */
  private void awaitPort() {
    Waiting.until(PORT_LIMIT, () -> Ports.isFree(port));
  }

  private NodeException notStarted(String why) {
    DockerContainer present = container;
    String output = present == null ? "" : Redis.withoutSecrets(present.output());
    return new NodeException(
        "The node "
            + address()
            + " did not start: "
            + why
            + ". It was started in a container of "
            + image.name()
            + " and printed: "
            + (output.isEmpty() ? "(nothing)" : output));
  }
}
