package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Some real redis-servers on free ports of 127.0.0.1, independent of each other and without
 * persistence, each of which can be frozen, killed and restarted.
 *
 * <pre>{@code
 * try (TestNodes nodes = TestNodes.start(5)) {
 *   nodes.node(0).freeze();
 *   …
 * }
 * }</pre>
 *
 * <p>{@link #close()} kills all of them, frozen ones too, and so does the end of this JVM: a
 * shutdown hook where it ends in an orderly way, and otherwise, after SIGKILL for example, a small
 * shell that waits for it (for containers: Testcontainers' own reaper). {@linkplain
 * Builder#detached() Detached} nodes live on instead. Safe for use by several threads.
 */
public final class TestNodes implements AutoCloseable {
  private final List<TestNode> nodes;
  private final @Nullable Path detachedIn;
  private final Runnable cleanUp;
  private final Thread hook;
  private boolean ended;

  /**
   * Creates an object for nodes that run.
   *
   * @param detachedIn the directory of detached nodes
   * @param cleanUp the work that is done when all have ended
   */
  private TestNodes(
      List<? extends Server> servers, String version, @Nullable Path detachedIn, Runnable cleanUp) {
    this.nodes =
        IntStream.range(0, servers.size())
            .mapToObj(i -> new TestNode(i, servers.get(i), version))
            .toList();
    this.detachedIn = detachedIn;
    this.cleanUp = cleanUp;
    this.hook = new Thread(this::end, "holdfast-nodes-end");
  }

  /**
   * Starts nodes from the default source: the embedded redis-server, or the source that the system
   * property {@value NodeSource#PROPERTY} names.
   *
   * @param count at least 1
   * @return when each of them answers
   * @throws NodeException if one does not start. The message says why, and which other source would
   *     do.
   */
  public static TestNodes start(int count) {
    return builder().count(count).start();
  }

  /** Returns a builder of nodes with other settings. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Finds the detached nodes that another process started in this directory, whatever state they
   * are in by now.
   *
   * @return empty if there are none
   * @throws NodeException if what is written there cannot be read
   */
  public static Optional<TestNodes> attach(Path directory) {
    return DetachedNodes.find(directory.toAbsolutePath().normalize()).map(TestNodes::of);
  }

  /** Returns the number of nodes, whatever their state. */
  public int size() {
    return nodes.size();
  }

  /**
   * Returns the node with an index.
   *
   * @param index from 0
   */
  public TestNode node(int index) {
    return nodes.get(index);
  }

  /** Returns all nodes, in the order of their indexes. */
  public List<TestNode> all() {
    return nodes;
  }

  /**
   * Returns the nodes' URIs, for example {@code redis://127.0.0.1:17001}, in the order of the
   * indexes.
   */
  public List<String> uris() {
    return nodes.stream().map(TestNode::uri).toList();
  }

  /**
   * Kills all nodes and deletes their temporary directory. Leaves detached nodes alone. Closing
   * again does nothing.
   */
  @Override
  public void close() {
    if (detachedIn == null) {
      end();
    }
  }

  /**
   * Kills all nodes, detached ones too. Deletes all files of detached nodes, and their directory if
   * nothing else is in it.
   *
   * @throws NodeException if something is left. The message names it.
   */
  public void stop() {
    if (detachedIn != null && Files.isDirectory(detachedIn)) {
      DirectoryLock.during(detachedIn, this::end);
    } else {
      end();
    }
  }

  /** Ends all nodes. A later call repeats what failed. */
  private synchronized void end() {
    if (ended) {
      return;
    }
    nodes.forEach(TestNode::sendFinalKill);
    nodes.forEach(TestNode::awaitEnd);
    cleanUp.run();
    ended = true;
    forgetHook();
  }

  private void forgetHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending, and the hook will find nothing left to do.
    }
  }

  private static TestNodes of(DetachedNodes found) {
    return new TestNodes(
        found.servers(), found.binary().version(), found.directory(), found::deleteFiles);
  }

  private static TestNodes owned(List<? extends Server> servers, String version, Runnable cleanUp) {
    TestNodes nodes = new TestNodes(servers, version, null, cleanUp);
    try {
      Runtime.getRuntime().addShutdownHook(nodes.hook);
    } catch (IllegalStateException e) {
      nodes.end();
      throw ending(e);
    }
    return nodes;
  }

  /** Refuses to start servers that no hook would end. Java tells by this method alone. */
  private static void requireNotEnding() {
    Thread probe = new Thread();
    try {
      Runtime.getRuntime().addShutdownHook(probe);
      Runtime.getRuntime().removeShutdownHook(probe);
    } catch (IllegalStateException e) {
      throw ending(e);
    }
  }

  private static NodeException ending(IllegalStateException cause) {
    return new NodeException("No node is started, because this JVM is ending.", cause);
  }

  /** Settings for nodes to start. Not safe for use by several threads. */
  public static final class Builder {
    private static final int DEFAULT_COUNT = 5;

    private int count = DEFAULT_COUNT;
    private NodeSource source = NodeSource.byDefault();
    private List<String> config = List.of();
    private @Nullable Path directory;
    private boolean detached;
    private IntFunction<List<Integer>> ports = Ports::free;

    private Builder() {}

    /** Sets the number of nodes, at least 1, by default 5. */
    public Builder count(int nodes) {
      if (nodes < 1) {
        throw new IllegalArgumentException("At least one node, not " + nodes);
      }
      this.count = nodes;
      return this;
    }

    /** Sets the source of the servers. The default is {@link NodeSource#byDefault()}. */
    public Builder source(NodeSource nodeSource) {
      this.source = nodeSource;
      return this;
    }

    /**
     * Sets further lines of redis.conf for every node, which override the defaults. For example,
     * with {@code "appendonly yes"} everything that a node has answered outlives SIGKILL. The lines
     * replace those of an earlier call.
     *
     * @throws IllegalArgumentException for a directive that this class sets itself, such as port
     */
    public Builder config(String... redisConfLines) {
      this.config = ServerConfig.checked(Arrays.asList(redisConfLines));
      return this;
    }

    /**
     * Sets the folder of the nodes' files, which stay there after {@code close()}. By default the
     * files are in a temporary directory, which is deleted. The folder is created if needed. Nodes
     * that start in it start empty. Not for containers.
     */
    public Builder directory(Path path) {
      this.directory = path.toAbsolutePath().normalize();
      return this;
    }

    /**
     * Makes the nodes live on when this JVM ends, until {@link TestNodes#stop()}. {@link
     * TestNodes#attach(Path)} finds them from any process. Needs a directory. Not for containers.
     */
    public Builder detached() {
      this.detached = true;
      return this;
    }

    /** Lets a test choose ports that are taken. */
    Builder ports(IntFunction<List<Integer>> chooser) {
      this.ports = chooser;
      return this;
    }

    /**
     * Starts the nodes, all at the same time.
     *
     * @return when each of them answers, usually within 0.1 s, in containers within seconds. A node
     *     that does not answer within ten seconds, or a minute in a container, is an error.
     * @throws NodeException if one does not start, or detached nodes run in the directory already,
     *     or nodes in containers are given a directory or must be detached
     * @throws IllegalStateException if detached and without a directory
     */
    public TestNodes start() {
      TestNodes started = startServers();
      try {
        started.all().forEach(node -> node.vouch(0));
      } catch (RedisErrorReply e) {
        // A caller that has set a password for the nodes can send these commands itself.
      } catch (RuntimeException e) {
        started.stop();
        throw e;
      }
      return started;
    }

    private TestNodes startServers() {
      if (!detached) {
        requireNotEnding();
      }
      if (source instanceof ContainerSource containers) {
        return startContainers(containers);
      }
      ServerBinary binary = ((ExecutableSource) source).binary();
      return detached ? startDetached(binary) : startOwned(binary);
    }

    private TestNodes startContainers(ContainerSource containers) {
      if (detached || directory != null) {
        throw new NodeException(
            "Nodes in containers end with this JVM and keep no files on this machine: leave out "
                + (detached ? "detached()" : "directory(…)")
                + ", or choose another source with source(…) or -D"
                + NodeSource.PROPERTY
                + ".");
      }
      ServerImage image = containers.serverImage();
      Launch<ServerContainer> launch = new Launch<>(ServerContainer.place(image, config), ports);
      return owned(launch.start(ports.apply(count)), image.version(), () -> {});
    }

    private TestNodes startOwned(ServerBinary binary) {
      boolean temporary = directory == null;
      Path folder = createDirectory();
      Watchdog watchdog = Watchdog.over(folder, temporary);
      try {
        Launch<ServerProcess> launch =
            new Launch<>(ServerProcess.place(folder, binary, config), ports);
        return owned(
            launch.start(ports.apply(count)),
            binary.version(),
            () -> {
              if (temporary) {
                deleteTemporary(folder);
              }
              watchdog.disarm();
            });
      } catch (RuntimeException e) {
        // The watchdog takes care of all that there is by now.
        watchdog.release();
        throw e;
      }
    }

    private TestNodes startDetached(ServerBinary binary) {
      if (directory == null) {
        throw new IllegalStateException("Detached nodes need a directory(…) to be found in again");
      }
      Path folder = createDirectory();
      return of(
          DirectoryLock.during(
              folder, () -> DetachedNodes.start(folder, binary, config, count, ports)));
    }

    private Path createDirectory() {
      try {
        return directory == null
            ? Files.createTempDirectory("holdfast-nodes-")
            : Files.createDirectories(directory);
      } catch (IOException e) {
        throw new NodeException("Cannot create a directory for the nodes: " + e, e);
      }
    }

    private static void deleteTemporary(Path folder) {
      try {
        Folders.delete(folder);
      } catch (IOException e) {
        throw new NodeException("The nodes are stopped, but not all is deleted: " + e, e);
      }
    }
  }
}
