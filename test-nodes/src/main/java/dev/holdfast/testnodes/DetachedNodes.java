package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Nodes that live on when this JVM ends, found again by their directory. */
record DetachedNodes(Path directory, ServerBinary binary, List<ServerProcess> servers) {
  /** Finds the detached nodes in a directory. Returns empty if it holds none. */
  static Optional<DetachedNodes> find(Path directory) {
    return NodesFile.read(directory)
        .map(
            file ->
                new DetachedNodes(
                    directory,
                    file.binary(),
                    IntStream.range(0, file.ports().size())
                        .mapToObj(
                            i -> ServerProcess.in(directory, file.binary(), i, file.ports().get(i)))
                        .toList()));
  }

  /** Starts nodes. The caller holds the lock of the directory. */
  static DetachedNodes start(
      Path directory,
      ServerBinary binary,
      List<String> config,
      int count,
      IntFunction<List<Integer>> ports) {
    find(directory).ifPresent(DetachedNodes::clearAway);
    List<Integer> chosen = ports.apply(count);
    // Before anything runs: should this process be killed now, the next one finds all of them.
    new NodesFile(binary, chosen).write(directory);
    boolean started = false;
    try {
      List<ServerProcess> servers =
          new Launch<>(ServerProcess.place(directory, binary, config), ports).start(chosen);
      new NodesFile(binary, servers.stream().map(ServerProcess::port).toList()).write(directory);
      started = true;
      return new DetachedNodes(directory, binary, servers);
    } finally {
      if (!started) {
        find(directory).ifPresent(DetachedNodes::undo);
      }
    }
  }

  /** Deletes all files of servers that have ended, and the directory if nothing else is in it. */
  void deleteFiles() {
    try {
      servers.forEach(ServerProcess::deleteFolder);
      NodesFile.delete(directory);
      DirectoryLock.delete(directory);
      Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      // Other files are in the directory.
    } catch (IOException e) {
      throw new NodeException("The nodes are stopped, but not all is deleted: " + e, e);
    }
  }

  private void undo() {
    servers.forEach(ServerProcess::sendKill);
    servers.forEach(ServerProcess::awaitGone);
    deleteFiles();
  }

  private void clearAway() {
    if (servers.stream().anyMatch(server -> server.state() != TestNode.State.DOWN)) {
      throw new NodeException(
          "Nodes run in "
              + directory
              + " already ("
              + String.join(", ", servers.stream().map(s -> "redis://" + s.address()).toList())
              + "): use or stop those.");
    }
    servers.forEach(ServerProcess::deleteFolder);
  }
}
