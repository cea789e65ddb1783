package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.command.SyncDockerCmd;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.ChangeLog;
import com.github.dockerjava.api.model.Frame;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/**
 * One container, from its making to its removal.
 *
 * @param node how errors name it
 */
record DockerContainer(DockerEngine engine, String id, String node) {
  private static final int READABLE = 0100444;
  private static final long OUTPUT_LIMIT_SECONDS = 10;

  /** Puts a file into it, running or not. */
  void write(String path, String text) {
    run(
        "write the configuration of",
        docker ->
            docker
                .copyArchiveToContainerCmd(id)
                .withRemotePath("/")
                .withTarInputStream(new ByteArrayInputStream(tar(path, text.getBytes(UTF_8)))));
  }

  void start() {
    run("start", docker -> docker.startContainerCmd(id));
  }

  void pause() {
    run("pause", docker -> docker.pauseContainerCmd(id));
  }

  void unpause() {
    run("unpause", docker -> docker.unpauseContainerCmd(id));
  }

  /** Sends SIGKILL; nothing happens if it does not run. */
  void kill() {
    try {
      run("kill", docker -> docker.killContainerCmd(id));
    } catch (NodeException e) {
      if (state() != TestNode.State.DOWN) {
        throw e;
      }
    }
  }

  /** Kills it if it runs, and removes it with its data. */
  void remove() {
    try {
      run(
          "remove",
          docker -> docker.removeContainerCmd(id).withForce(true).withRemoveVolumes(true));
    } catch (NodeException e) {
      // Testcontainers' own shutdown hook may have been first, and be at it.
      if (!Waiting.until(TestNode.START_LIMIT, () -> inspect().isEmpty())) {
        throw e;
      }
    }
  }

  TestNode.State state() {
    return inspect()
        .filter(state -> Boolean.TRUE.equals(state.getRunning()))
        .map(
            state ->
                Boolean.TRUE.equals(state.getPaused()) ? TestNode.State.FROZEN : TestNode.State.UP)
        .orElse(TestNode.State.DOWN);
  }

  /** Returns the process id as the engine's system sees it; empty if it does not run. */
  OptionalLong pid() {
    return inspect().stream()
        .filter(state -> Boolean.TRUE.equals(state.getRunning()))
        .mapToLong(ContainerState::getPidLong)
        .findAny();
  }

  /** Returns the paths that differ from the image, running or not. */
  List<String> changedPaths() {
    return call(
            "look into",
            docker -> docker.containerDiffCmd(id).exec().stream().map(ChangeLog::getPath))
        .toList();
  }

  /** Returns the output so far. */
  String output() {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    ResultCallback.Adapter<Frame> collector =
        new ResultCallback.Adapter<>() {
          @Override
          public void onNext(Frame frame) {
            output.writeBytes(frame.getPayload());
          }
        };
    return call(
        "read the output of",
        docker -> {
          try {
            docker
                .logContainerCmd(id)
                .withStdOut(true)
                .withStdErr(true)
                .withTailAll()
                .exec(collector)
                .awaitCompletion(OUTPUT_LIMIT_SECONDS, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            throw new AssertionError("no other thread interrupts this one", e);
          }
          return output.toString(UTF_8);
        });
  }

  private Optional<ContainerState> inspect() {
    return call(
        "inspect",
        docker -> {
          try {
            return Optional.of(docker.inspectContainerCmd(id).exec().getState());
          } catch (NotFoundException e) {
            return Optional.empty();
          }
        });
  }

  private void run(String verb, Function<DockerClient, SyncDockerCmd<?>> command) {
    call(
        verb,
        docker -> {
          command.apply(docker).exec();
          return true;
        });
  }

  private <T> T call(String verb, Function<DockerClient, T> action) {
    return DockerEngine.call(
        verb + " the container of " + node, () -> action.apply(engine.client()));
  }

  private static byte[] tar(String path, byte[] content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
      TarArchiveEntry entry = new TarArchiveEntry(path);
      entry.setSize(content.length);
      entry.setMode(READABLE);
      tar.putArchiveEntry(entry);
      tar.write(content);
      tar.closeArchiveEntry();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
