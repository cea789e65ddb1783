package dev.holdfast.cli.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.cli.Program;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code holdfast nodes status --url}: the nodes behind any URL, as a client sees them. */
class NodesStatusTest {
  private static final Pattern URL = Pattern.compile("HOLDFAST_URL=(\\S+)");

  @TempDir Path state;

  private String url = "";

  @BeforeEach
  void start() {
    url =
        URL.matcher(output(0, "nodes", "start", "--count", "3"))
            .results()
            .map((MatchResult match) -> match.group(1))
            .findAny()
            .orElseThrow();
  }

  @AfterEach
  void stop() {
    output(0, "nodes", "stop");
  }

  @Test
  void eachNodeIsShownWithItsStateAndTheQuorum() {
    assertThat(status(0)).endsWith("3 up; a quorum may vote\n");

    output(0, "nodes", "kill", "1");
    assertThat(status(0).lines())
        .satisfiesExactly(
            line -> assertThat(line).matches("  127\\S+  up"),
            line -> assertThat(line).matches("  127\\S+  down +.*[Cc]onnection.*"),
            line -> assertThat(line).matches("  127\\S+  up"),
            line -> assertThat(line).isEqualTo("2 up, 1 down; a quorum may vote"));

    output(0, "nodes", "kill", "2");
    assertThat(status(69)).endsWith("1 up, 2 down; no quorum may vote\n");
  }

  @Test
  void aNodeThatCameBackWithoutItsDataIsInQuarantine() {
    output(0, "nodes", "restart", "1");

    assertThat(status(0)).contains("quarantined", "without its data; votes again in ");
    assertThat(output(0, "nodes", "status", "--json", "--url", url))
        .contains("\"state\": \"quarantined\"", "\"votesAgain\": \"20", "\"quorum\": true");
  }

  @Test
  void theTimeUntilANodeVotesIsRoundedUp() {
    Instant then = Instant.ofEpochSecond(1_700_000_000);
    LockNode node = new LockNode("h1", State.QUARANTINED, then, "new", Optional.of(then));

    assertThat(NodesStatus.votesAgain(node, then.minusMillis(2_500))).endsWith("again in 3 s");
    assertThat(NodesStatus.votesAgain(node, then)).endsWith("again when a lock is asked for");
  }

  private String status(int code) {
    return output(code, "nodes", "status", "--url", url);
  }

  private String output(int code, String... args) {
    try (Program program = Program.inThisJvm(Map.of("HOLDFAST_STATE", state.toString()), args)) {
      assertThat(program.exitCode()).as(program.err()).isEqualTo(code);
      return program.out();
    }
  }
}
