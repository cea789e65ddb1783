package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Facts that differ when the system property says that nodes are containers. */
final class DefaultSource {
  private DefaultSource() {}

  /** Leaves a test out that is about processes of this machine. */
  static void assumeProcesses(String why) {
    assumeThat(isProcesses()).as(why).isTrue();
  }

  /** That the server that answers is the one that the node has started. */
  static void assertAnswersItself(TestNode node) {
    assertThat((String) node.command("INFO", "server"))
        .contains("_version:" + node.version() + "\r\n")
        // A container's server is the first process in there.
        .contains("process_id:" + (isProcesses() ? node.pid() : 1) + "\r\n");
  }

  private static boolean isProcesses() {
    return NodeSource.byDefault() instanceof ExecutableSource;
  }
}
