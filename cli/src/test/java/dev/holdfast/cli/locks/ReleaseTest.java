package dev.holdfast.cli.locks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast release} on real nodes. */
class ReleaseTest {
  /** The launcher's property where stdin is a terminal. */
  private static final Map<String, String> TERMINAL =
      Map.of("HOLDFAST_JAVA_OPTS", "-Dholdfast.terminal.in=true");

  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();

  @AfterEach
  void end() {
    programs.close();
    Nodes.thaw(NODES);
    Nodes.remove(NODES, "job");
  }

  @Test
  void asAProcessItTakesTheLockAwayAndItsHolderSeesIt() {
    Program holder =
        programs
            .holdfast(
                "run",
                "--name",
                "job",
                "--url",
                Nodes.url(NODES),
                "--ttl",
                "4s",
                "--",
                "sh",
                "-c",
                "echo ready; exec sleep 60")
            .awaitOut("ready");

    Program release =
        programs.holdfast("release", "--force", "job", "--url", Nodes.url(NODES), "--yes");

    assertThat(release.exitCode()).as(release.err()).isZero();
    assertThat(release.out())
        .matches("Removed\\. Before: job: held by \\S+:\\d+; [23] of 3 nodes agree; .*\n");
    assertThat(holder.exitCode()).isEqualTo(76);
    assertThat(holder.err()).contains("REMOVED");
  }

  @Test
  void exitsWith1IfTheLockIsFree() {
    Program release = release(Map.of(), "--yes");

    assertThat(release.exitCode()).as(release.err()).isEqualTo(1);
    assertThat(release.out()).isEqualTo("job: free, nothing to remove\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"y\n", "YES \n"})
  void promptsOnATerminalAndReleasesIfTheAnswerIsYes(String answer) {
    Nodes.occupy(NODES, "job");

    Program release = release(TERMINAL).awaitErr("[y/N]");
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
    release.press(answer);

    assertThat(release.exitCode()).as(release.err()).isZero();
    assertThat(release.err()).startsWith("job: held by ").contains(" of 3 nodes agree");
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"n\n", "\n", "yeah\n", ""})
  void releasesNothingIfTheAnswerIsNotYes(String answer) {
    Nodes.occupy(NODES, "job");

    Program release = release(TERMINAL, "--json").awaitErr("[y/N]").type(answer);

    assertThat(release.exitCode()).isEqualTo(1);
    assertThat(release.out()).contains("\"removed\": false", "\"nodes\": 3");
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
  }

  @Test
  void leavesALockThatIsTakenDuringThePrompt() {
    Nodes.occupy(NODES, "job");
    Program release = release(TERMINAL).awaitErr("[y/N]");

    NODES.all().forEach(node -> node.command("SET", "job", "somebody:else", "PX", "60000"));
    release.press("y\n");

    assertThat(release.exitCode()).isEqualTo(1);
    assertThat(release.out()).contains("another owner holds it now");
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
  }

  @Test
  void refusesWithoutATerminal() {
    Nodes.occupy(NODES, "job");

    Program release = release(Map.of());

    assertThat(release.exitCode()).isEqualTo(64);
    assertThat(release.err()).contains("no answer is possible", "--yes").hasLineCount(1);
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
  }

  @Test
  void showsTheResultAsJson() {
    Nodes.occupy(NODES, "job");

    Program removed = release(Map.of(), "--yes", "--json");
    assertThat(removed.exitCode()).as(removed.err()).isZero();
    assertThat(removed.out())
        .matches(
            "\\{\"name\": \"job\", \"removed\": true, \"owner\": \"[^\"]+\", \"agreeing\": [23],"
                + " \"nodes\": 3}\n");

    Program gone = release(Map.of(), "--yes", "--json");
    assertThat(gone.exitCode()).isEqualTo(1);
    assertThat(gone.out()).isEqualTo("{\"name\": \"job\", \"removed\": false}\n");
  }

  @Test
  void endsWith69WithoutAQuorum() {
    NODES.all().forEach(TestNode::freeze);

    Program release =
        start(
            Map.of("HOLDFAST_URL", Nodes.impatientUrl(NODES)),
            List.of("release", "--force", "job", "--yes"));

    assertThat(release.exitCode()).isEqualTo(69);
    assertThat(release.out()).isEmpty();
  }

  private Program release(Map<String, String> environment, String... options) {
    return start(
        environment, List.of("release", "--force", "job", "--url", Nodes.url(NODES)), options);
  }

  private Program start(Map<String, String> environment, List<String> args, String... more) {
    List<String> all = new ArrayList<>(args);
    all.addAll(List.of(more));
    return programs.inThisJvm(environment, all.toArray(new String[0]));
  }
}
