package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast run} on a terminal, which script(1) makes. */
@Tag("slow")
class RunTerminalTest {
  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();

  @BeforeEach
  void onLinux() {
    assumeThat(Path.of("/proc/self/stat")).as("script has other options elsewhere").exists();
  }

  @AfterEach
  void end() {
    programs.close();
    Nodes.remove(NODES, "job");
  }

  @Test
  void theCommandReadsWhatIsTypedAndItsStdinStdoutAndStderrAreTheTerminal() {
    Program terminal =
        terminal(
            "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo ready; read line; echo \"read $line\"; exit 4");

    terminal.awaitOut("ready").press("something\n").awaitOut("read something");

    assertThat(terminal.exitCode()).isEqualTo(4);
  }

  @Test
  void ctrlCEndsTheCommandAndAllThatItHasStarted() throws IOException {
    assumeThat(Program.ignoresSignalOf(130)).as("our parent ignores SIGINT").isFalse();
    Program terminal = terminal("sh -c 'echo ready; sleep 60'; echo after");

    terminal.awaitOut("ready").press("\u0003");

    assertThat(terminal.exitCode()).isEqualTo(130);
    assertThat(terminal.out()).doesNotContain("after");
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void ctrlZStopsNeitherTheCommandNorTheRenewalsAndSaysSo() {
    Program terminal = terminal("echo ready; read line; echo \"read $line\"");

    terminal.awaitOut("ready").press("\u001a").awaitOut("Ctrl-Z stops nothing here");
    terminal.press("on\n").awaitOut("read on");

    assertThat(terminal.exitCode()).isZero();
  }

  @Test
  void commandCannotOpenTheTerminal() {
    Program terminal =
        terminal("if (: < /dev/tty) 2> /dev/null; then echo open; else echo not; fi");

    assertThat(terminal.exitCode()).isZero();
    assertThat(terminal.out()).contains("not").doesNotContain("open");
  }

  private Program terminal(String script) {
    // without exec, some shells stay around it and end by the signal themselves
    String command = "exec $LAUNCHER run --name job --url $URL -- sh -c \"$SCRIPT\"";
    return programs.start(
        Map.of(
            "LAUNCHER",
            Distribution.launcher().toString(),
            "URL",
            Nodes.url(NODES),
            "SCRIPT",
            script),
        List.of("script", "-qfec", command, "/dev/null"));
  }
}
