package dev.holdfast.cli.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast nodes init} on real nodes that look new. */
class NodesInitTest {
  /** The launcher's property where stdin is a terminal. */
  private static final Map<String, String> TERMINAL =
      Map.of("HOLDFAST_JAVA_OPTS", "-Dholdfast.terminal.in=true");

  private static final String RECORD = "holdfast:guard";

  @TempDir Path state;

  @AutoClose private final Programs programs = new Programs();
  @AutoClose private static final TestNodes NODES = TestNodes.start(3);
  private final TestNodes nodes = NODES;

  @BeforeEach
  void makeNodesLookNew() {
    nodes.all().stream()
        .filter(node -> node.state() == TestNode.State.DOWN)
        .forEach(TestNode::restart);
    nodes.all().forEach(node -> node.command("FLUSHALL"));
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("initialises them, so that locks are granted at once")
  void marksNewNodes() {
    assertThat(run()).isEqualTo(69);

    Program init = programs.holdfast("nodes", "init", "--url", Nodes.url(nodes), "--yes");

    assertThat(init.exitCode()).as(init.err()).isZero();
    assertThat(init.out())
        .contains("  " + nodes.node(0).address() + "  it votes")
        .endsWith("Initialised.\n");
    assertThat(init.err()).isEmpty();
    assertThat(run()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"y\n", "YES \n"})
  @Rule("GUARD-5")
  @DisplayName("asks on a terminal, says what it means, and does it if the answer is yes")
  void asksOnATerminal(String answer) {
    Program init = init(TERMINAL).awaitErr("[y/N]");
    assertThat(init.err())
        .contains(nodes.node(2).address())
        .contains("ALL of them lost their data at once: only you know")
        .containsPattern("locks may be held on them, wait (5\\d|6[012]) s instead");
    assertThat(voting()).isZero();
    init.press(answer);

    assertThat(init.exitCode()).as(init.err()).isZero();
    assertThat(init.out()).endsWith("Initialised.\n");
    assertThat(voting()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"n\n", "\n", "yeah\n", ""})
  @Rule("GUARD-5")
  @DisplayName("leaves them if the answer is another or none")
  void initialisesNothingIfTheAnswerIsNo(String answer) {
    Program init = init(TERMINAL, "--json").awaitErr("[y/N]").type(answer);

    assertThat(init.exitCode()).as(init.err()).isEqualTo(1);
    assertThat(init.out()).startsWith("{\"marked\": false, \"nodes\": [{\"address\": ");
    assertThat(voting()).isZero();
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("refuses without a terminal")
  void refusesWithoutATerminal() {
    Program init = init(Map.of());

    assertThat(init.exitCode()).isEqualTo(64);
    assertThat(init.err()).contains("no answer is possible", "--yes", " s instead").hasLineCount(1);
    assertThat(voting()).isZero();
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("does nothing if all nodes vote")
  void doesNothingIfAllNodesVote() {
    assertThat(init(Map.of(), "--yes").exitCode()).isZero();

    Program again = init(Map.of());

    assertThat(again.exitCode()).as(again.err()).isZero();
    assertThat(again.out()).endsWith("All vote: nothing to do.\n");
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("initialises no node if some vote")
  void initialisesNoNodeIfSomeVote() {
    nodes.node(1).vouch(0);

    Program init = init(TERMINAL, "--yes");

    assertThat(init.exitCode()).isEqualTo(69);
    assertThat(init.err())
        .contains("no node was initialised", nodes.node(1).address() + ": it votes")
        .containsPattern("wait (5\\d|6[012]) s, and all vote");
    assertThat(voting()).isEqualTo(1);
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("initialises no node if one does not answer")
  void initialisesNoNodeIfOneDoesNotAnswer() {
    nodes.node(1).kill();

    Program init = init(Map.of(), "--yes");

    assertThat(init.exitCode()).isEqualTo(69);
    assertThat(init.err()).contains("not all nodes answer", nodes.node(1).address());
    assertThat(voting()).isZero();
  }

  @Test
  @Rule("GUARD-4")
  @DisplayName("nodes of clients with another maxTtl are left to them")
  void nodesOfOthersAreLeftToThem() {
    assertThat(init(Map.of(), "--yes").exitCode()).isZero();

    Program other =
        programs.inThisJvm(
            Map.of(), "nodes", "init", "--yes", "--url", Nodes.url(nodes) + "&maxTtl=30s");

    assertThat(other.exitCode()).isEqualTo(64);
    assertThat(other.err()).contains(nodes.node(0).address(), "maxTtl=60000ms");
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("result is available as json")
  void resultIsAvailableAsJson() {
    Program init = init(Map.of(), "--yes", "--json");

    assertThat(init.exitCode()).as(init.err()).isZero();
    String node =
        "\\{\"address\": \"127[^\"]+\", \"state\": \"votes\", \"leftMillis\": 0,"
            + " \"text\": \"it votes\"}";
    assertThat(init.out())
        .matches(
            "\\{\"marked\": true, \"nodes\": \\["
                + String.join(", ", List.of(node, node, node))
                + "]}\n");
    assertThat(init(Map.of(), "--json").awaitOut("}\n").out()).contains("\"marked\": false");
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("nodes that were started here vote already; locks of others have no guard")
  void nodesThatWereStartedHereVoteAlready() {
    Map<String, String> here = Map.of("HOLDFAST_STATE", state.toString());
    assertThat(programs.inThisJvm(here, "nodes", "start", "--count", "3").exitCode()).isZero();
    Program init = programs.inThisJvm(here, "nodes", "init");
    assertThat(init.exitCode()).as(init.err()).isZero();
    assertThat(init.out()).endsWith("All vote: nothing to do.\n");
    assertThat(programs.inThisJvm(here, "nodes", "stop").exitCode()).isZero();

    Program setnx =
        programs.inThisJvm(here, "nodes", "init", "--url", "setnx:" + nodes.node(0).uri());
    assertThat(setnx.exitCode()).isEqualTo(64);
    assertThat(setnx.err()).contains("there is no restart guard");
  }

  /** Counts the nodes with a record of being whole. */
  private long voting() {
    return nodes.all().stream()
        .filter(node -> node.state() == TestNode.State.UP)
        .filter(node -> "0".equals(node.command("HGET", RECORD, "since")))
        .count();
  }

  private int run() {
    return programs
        .inThisJvm(Map.of(), "run", "--name", "x", "--url", Nodes.url(nodes), "true")
        .exitCode();
  }

  private Program init(Map<String, String> environment, String... options) {
    List<String> all = new ArrayList<>(List.of("nodes", "init", "--url", Nodes.url(nodes)));
    all.addAll(List.of(options));
    return programs.inThisJvm(environment, all.toArray(new String[0]));
  }
}
