package dev.holdfast.testnodes;

import com.github.dockerjava.api.DockerClient;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.WaitAllStrategy;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.utility.DockerImageName;

/**
 * The Docker engine that Testcontainers finds. Each call is bounded, and made on a thread of its
 * own: the client's has no limit, and an interrupt would break the connection in the middle.
 */
record DockerEngine(DockerClient client, String host) {
  /** The port of every redis-server inside its container. */
  static final int PORT = 6379;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration PULL_LIMIT = Duration.ofMinutes(5);

  /** Which JVM a container belongs to. */
  static final String LABEL = "dev.holdfast.testnodes.jvm";

  static final String THIS_JVM = UUID.randomUUID().toString();
  private static final AtomicInteger THREAD_COUNT = new AtomicInteger();
  static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread =
                new Thread(task, "holdfast-nodes-docker-" + THREAD_COUNT.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });

  /**
   * Looks for it.
   *
   * @throws NodeException if there is none. The message names alternatives
   */
  static DockerEngine connect() {
    try {
      // The first time Testcontainers may pull an image of its own.
      return await("find a Docker engine", PULL_LIMIT, async(DockerEngine::find));
    } catch (NodeException e) {
      throw new NodeException(
          e.getMessage()
              + " Start Docker, or say in DOCKER_HOST where it is. "
              + ServerBinary.WHAT_ELSE_WOULD_SERVE,
          e);
    }
  }

  private static DockerEngine find() {
    DockerClient client = DockerClientFactory.instance().client();
    String host = DockerClientFactory.instance().dockerHostIpAddress();
    return new DockerEngine(client, host.equals("localhost") ? Ports.HOST : host);
  }

  /**
   * Pulls the image unless it is there. It then has the name that Testcontainers' settings give it.
   */
  static RemoteDockerImage pulled(String image) {
    return await(
        "get the image " + image,
        PULL_LIMIT,
        async(
            () -> {
              RemoteDockerImage pulled = new RemoteDockerImage(DockerImageName.parse(image));
              pulled.get();
              return pulled;
            }));
  }

  /**
   * Describes a container that runs {@code redis-server}, whatever the image runs by itself. Its
   * start returns as soon as Docker has started it: Testcontainers would log the output of a server
   * that ends during its start, and the output may contain a password.
   */
  static GenericContainer<?> container(RemoteDockerImage image, String... arguments) {
    return new GenericContainer<>(image)
        .withCreateContainerCmdModifier(command -> command.withEntrypoint("redis-server"))
        .withCommand(arguments)
        .withLabel(LABEL, THIS_JVM)
        .withStartupCheckStrategy(new NoStartupCheck())
        .waitingFor(new WaitAllStrategy(WaitAllStrategy.Mode.WITH_INDIVIDUAL_TIMEOUTS_ONLY));
  }

  /** Servers without a password must not be open to other machines, if it can be helped. */
  String publishedAt(int port) {
    return (host.equals(Ports.HOST) ? host + ":" : "") + port + ":" + PORT;
  }

  /**
   * Makes a call and waits for its end, interrupted or not.
   *
   * @param what for the error: "Docker could not …"
   * @throws NodeException with Docker's own error as the cause
   */
  static <T> T call(String what, Supplier<T> call) {
    return await(what, async(call));
  }

  static <T> CompletableFuture<T> async(Supplier<T> call) {
    return CompletableFuture.supplyAsync(call, THREADS);
  }

  static <T> T await(String what, CompletableFuture<T> call) {
    return await(what, LIMIT, call);
  }

  private static <T> T await(String what, Duration limit, CompletableFuture<T> call) {
    if (!Waiting.until(limit, call::isDone)) {
      throw new NodeException("Docker could not " + what + " in " + limit.toSeconds() + " s.");
    }
    try {
      return call.join();
    } catch (CompletionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (cause instanceof NodeException already) {
        throw already;
      }
      if (cause instanceof ContainerLaunchException) {
        while (cause.getCause() != null) {
          cause = cause.getCause();
        }
      }
      throw new NodeException("Docker could not " + what + ": " + cause.getMessage() + ".", cause);
    }
  }

  private static final class NoStartupCheck extends StartupCheckStrategy {
    @Override
    public boolean waitUntilStartupSuccessful(DockerClient client, String id) {
      return true;
    }

    @Override
    public StartupStatus checkStartupState(DockerClient client, String id) {
      return StartupStatus.SUCCESSFUL;
    }
  }
}
