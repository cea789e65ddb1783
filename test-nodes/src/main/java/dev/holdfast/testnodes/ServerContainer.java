package dev.holdfast.testnodes;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.command.SyncDockerCmd;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.ChangeLog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;

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
  private final int port;
  private final GenericContainer<?> container;
  private volatile CompletableFuture<Boolean> launch = CompletableFuture.completedFuture(true);
  private volatile CompletableFuture<Boolean> removal = CompletableFuture.completedFuture(true);

  private ServerContainer(ServerImage image, String config, int port) {
    this.image = image;
    this.port = port;
    container =
        DockerEngine.container(image.image(), CONF_FILE)
            .withCopyToContainer(Transferable.of(config), CONF_FILE);
    container.setPortBindings(List.of(image.engine().publishedAt(port)));
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
              if (container.getContainerId() == null) {
                startNew();
              } else { // GenericContainer would make a new one, without the data
                docker("start", DockerClient::startContainerCmd);
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
    return running()
        .map(
            state ->
                Boolean.TRUE.equals(state.getPaused()) ? TestNode.State.FROZEN : TestNode.State.UP)
        .orElse(TestNode.State.DOWN);
  }

  /** Returns the process id as the engine's system sees it. */
  @Override
  public OptionalLong pid() {
    return running().stream().mapToLong(ContainerState::getPidLong).findAny();
  }

  @Override
  public void freeze() {
    docker("pause", DockerClient::pauseContainerCmd);
  }

  @Override
  public void thaw() {
    docker("unpause", DockerClient::unpauseContainerCmd);
  }

  @Override
  public void sendKill() {
    try {
      docker("kill", DockerClient::killContainerCmd);
    } catch (NodeException e) {
      if (state() != TestNode.State.DOWN) {
        throw e;
      }
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
    String id = container.getContainerId();
    return id != null
        && call("look into", docker -> docker.containerDiffCmd(id).exec()).stream()
            .map(ChangeLog::getPath)
            .filter(path -> path.startsWith(FOLDER))
            .anyMatch(path -> Redis.isData(path.substring(FOLDER.length())));
  }

  @Override
  public void deleteData() {
    remove();
  }

  private void startNew() {
    try {
      container.start();
    } catch (ContainerLaunchException e) {
      remove();
      throw e;
    }
  }

  /** Kills it if it runs, and removes it with its data. */
  private boolean remove() {
    try {
      docker(
          "remove",
          (docker, id) -> docker.removeContainerCmd(id).withForce(true).withRemoveVolumes(true));
    } catch (NodeException e) {
      // Testcontainers' own shutdown hook may have been first, and be at it.
      if (!Waiting.until(TestNode.START_LIMIT, () -> inspect().isEmpty())) {
        throw e;
      }
    }
    return call(
        "forget",
        docker -> {
          container.stop(); // so that the next start makes a new one
          return true;
        });
  }

  private Optional<ContainerState> running() {
    return inspect().filter(state -> Boolean.TRUE.equals(state.getRunning()));
  }

  private Optional<ContainerState> inspect() {
    String id = container.getContainerId();
    return id == null
        ? Optional.empty()
        : call(
            "inspect",
            docker -> {
              try {
                return Optional.of(docker.inspectContainerCmd(id).exec().getState());
              } catch (NotFoundException e) {
                return Optional.empty();
              }
            });
  }

  /** Sends a command about the container, if there is one. */
  private void docker(String verb, BiFunction<DockerClient, String, SyncDockerCmd<?>> command) {
    String id = container.getContainerId();
    if (id != null) {
      call(
          verb,
          docker -> {
            command.apply(docker, id).exec();
            return true;
          });
    }
  }

  private <T> T call(String verb, Function<DockerClient, T> action) {
    return DockerEngine.call(
        verb + " the container of " + address(), () -> action.apply(container.getDockerClient()));
  }

  /**
   * Waits until the engine has released the port. If the port is in use after the limit, another
   * process has it.
   */
  private void awaitPort() {
    Waiting.until(PORT_LIMIT, () -> Ports.isFree(port));
  }

  private NodeException notStarted(String why) {
    String id = container.getContainerId();
    String output =
        id == null
            ? ""
            : Redis.withoutSecrets(call("read the output of", docker -> container.getLogs()));
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
