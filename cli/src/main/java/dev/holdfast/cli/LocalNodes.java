package dev.holdfast.cli;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The nodes of {@code holdfast nodes start}, which outlive the command that starts them. */
final class LocalNodes {
  static final int DEFAULT_COUNT = 5;

  /** What one set of votes holds. */
  private static final int MOST = 63;

  private static final String HOW_TO_START = "start them with: holdfast nodes start";

  private LocalNodes() {}

  /** Where they are kept. */
  static Path folder(Map<String, String> environment) {
    String own = environment.getOrDefault("HOLDFAST_STATE", "");
    if (!own.isEmpty()) {
      return Path.of(own, "nodes");
    }
    String state = environment.getOrDefault("XDG_STATE_HOME", "");
    Path base =
        state.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".local", "state")
            : Path.of(state);
    return base.resolve("holdfast").resolve("nodes");
  }

  static Path folder() {
    return folder(System.getenv());
  }

  /** Those that were started and of which not all are down. */
  static Optional<TestNodes> running() {
    return TestNodes.attach(folder())
        .filter(nodes -> nodes.all().stream().anyMatch(n -> n.state() != TestNode.State.DOWN));
  }

  /**
   * Those that were started, whatever their state.
   *
   * @throws UsageException if there are none; says how to start them
   */
  static TestNodes started() {
    return TestNodes.attach(folder())
        .orElseThrow(() -> new UsageException("no nodes were started; " + HOW_TO_START));
  }

  /** Starts some, empty. */
  static TestNodes start(int count) {
    if (count < 1 || count > MOST) {
      throw new UsageException("--count is " + count + ": give 1 to " + MOST);
    }
    return TestNodes.builder().count(count).directory(folder()).detached().start();
  }

  static String url(TestNodes nodes) {
    return "redlock:" + String.join(",", nodes.uris());
  }

  /**
   * The URL of those that run.
   *
   * @throws UsageException if there are none; says how to start them
   */
  static String url() {
    return running()
        .map(LocalNodes::url)
        .orElseThrow(
            () ->
                new UsageException(
                    "no --url, no HOLDFAST_URL, and no local nodes are running; " + HOW_TO_START));
  }
}
