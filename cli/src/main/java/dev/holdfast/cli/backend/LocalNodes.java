package dev.holdfast.cli.backend;

import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ProcessContext;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The nodes of {@code holdfast nodes start}, which outlive the command that starts them. */
public final class LocalNodes {
  public static final int DEFAULT_COUNT = 5;

  /** The most nodes of one set. */
  public static final int MAX_NODES = 31;

  private static final String HOW_TO_START = "start them with: holdfast nodes start";

  private LocalNodes() {}

  /**
   * Returns the folder of the nodes.
   *
   * @throws UsageException if that can be no folder. The message names the variable that sets it.
   */
  public static Path folder(Map<String, String> environment) {
    for (String variable : List.of("HOLDFAST_STATE", "XDG_STATE_HOME")) {
      String value = environment.getOrDefault(variable, "");
      if (!value.isEmpty()) {
        Path base = folder(value, variable + " is " + value);
        return variable.equals("HOLDFAST_STATE")
            ? base.resolve("nodes")
            : base.resolve("holdfast").resolve("nodes");
      }
    }
    String home = System.getProperty("user.home");
    return folder(home, "the home directory is " + home)
        .resolve(Path.of(".local", "state", "holdfast", "nodes"));
  }

  private static Path folder(String value, String named) {
    Path folder;
    try {
      folder = Path.of(value).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw unusable(named, "that is no path");
    }
    Path existing = folder;
    while (existing.getParent() != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (!Files.isDirectory(existing)) {
      throw unusable(named, existing + " is no folder");
    }
    if (!Files.isWritable(existing) || !Files.isExecutable(existing)) {
      throw unusable(named, existing + " cannot be written");
    }
    return folder;
  }

  private static UsageException unusable(String named, String why) {
    return new UsageException(
        named
            + ", where local nodes are kept, and "
            + why
            + ": set HOLDFAST_STATE to a folder that can be written");
  }

  public static Path folder() {
    return folder(ProcessContext.current().environment());
  }

  /** Returns the nodes that were started, if not all are down. */
  public static Optional<TestNodes> running() {
    return TestNodes.attach(folder())
        .filter(nodes -> nodes.all().stream().anyMatch(n -> n.state() != TestNode.State.DOWN));
  }

  /**
   * Returns the nodes that were started, in any state.
   *
   * @throws UsageException if there are none. The message says how to start them.
   */
  public static TestNodes started() {
    return TestNodes.attach(folder())
        .orElseThrow(() -> new UsageException("no nodes were started; " + HOW_TO_START));
  }

  /** Starts some, empty. */
  public static TestNodes start(int count) {
    UsageException.requireRange("--count", count, MAX_NODES);
    return TestNodes.builder().count(count).directory(folder()).detached().start();
  }

  public static String url(TestNodes nodes) {
    return "redlock:" + String.join(",", nodes.uris());
  }

  /**
   * Returns the URL of the nodes that run.
   *
   * @throws UsageException if there are none. The message says how to start them.
   */
  public static String url() {
    return running()
        .map(LocalNodes::url)
        .orElseThrow(
            () ->
                new UsageException(
                    "no --url, no HOLDFAST_URL, and no local nodes are running; " + HOW_TO_START));
  }
}
