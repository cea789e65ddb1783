package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testnodes.TestNode.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class DetachedNodesTest {
  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path parent;

  @BeforeEach
  void areProcesses() {
    DefaultSource.assumeProcesses("detached nodes are processes of this machine");
  }

  @AfterEach
  void stop() {
    TestNodes.attach(directory()).ifPresent(TestNodes::stop);
  }

  @Test
  void outliveTheJvmThatStartedThemAndObeyOthers() throws Exception {
    List<String> uris;
    try (SecondJvm jvm = SecondJvm.run("start-detached", directory().toString())) {
      uris = List.of(String.join(" ", jvm.readLine()).replaceAll("[\\[\\]]", "").split(", "));
      assertThat(jvm.awaitExitCode()).isZero();
    }

    TestNodes nodes = TestNodes.attach(directory()).orElseThrow();
    assertThat(nodes.uris()).isEqualTo(uris);
    assertThat(nodes.all()).extracting(TestNode::state).containsOnly(State.UP);
    assertThat((String) nodes.node(0).command("INFO", "server"))
        .contains("_version:" + nodes.node(0).version() + "\r\n");

    try (SecondJvm jvm = SecondJvm.run("freeze", directory().toString(), "1")) {
      assertThat(jvm.awaitExitCode()).isZero();
    }
    assertThat(nodes.node(0).state()).isEqualTo(State.UP);
    assertThat(nodes.node(1).state()).isEqualTo(State.FROZEN);

    nodes.node(0).kill();
    assertThat(attached().node(0).state()).isEqualTo(State.DOWN);
    attached().node(0).restart();
    assertThat(nodes.node(0).command("PING")).isEqualTo("PONG");
    attached().node(1).thaw();
    assertThat(nodes.node(1).command("PING")).isEqualTo("PONG");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void liveInASessionOfTheirOwnWhereCtrlCDoesNotReachThem() throws IOException {
    TestNodes nodes = start();
    assertThat(session(Long.toString(nodes.node(0).pid()))).isNotEqualTo(session("self"));
  }

  @Test
  void closeLeavesThemAloneAndStopRemovesAllTraces() {
    TestNodes nodes = start();
    long pid = nodes.node(0).pid();
    attached().close();
    nodes.close();
    assertThat(nodes.node(0).state()).isEqualTo(State.UP);
    nodes.node(1).freeze();

    attached().stop();

    assertThat(OsProcess.find(pid)).isEmpty();
    assertThat(nodes.all()).extracting(TestNode::state).containsOnly(State.DOWN);
    assertThat(directory()).doesNotExist();
    assertThat(TestNodes.attach(directory())).isEmpty();
    nodes.stop();
  }

  @Test
  void anInterruptedThreadCanStopThem() {
    TestNodes nodes = start();
    Thread.currentThread().interrupt();
    nodes.stop();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(nodes.all()).extracting(TestNode::state).containsOnly(State.DOWN);
  }

  @Test
  void nodesThatAnotherProcessStoppedCannotBeRestarted() {
    TestNodes nodes = start();
    attached().stop();
    assertThatThrownBy(() -> nodes.node(0).restart())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("have been closed");
  }

  @Test
  void stopLeavesOtherPeoplesFilesInTheDirectory() throws IOException {
    Files.createDirectories(directory());
    Path other = Files.writeString(directory().resolve("notes.txt"), "keep");
    start().stop();
    assertThat(directory().toFile().list()).containsExactly(other.getFileName().toString());
  }

  @Test
  void areNotStartedTwiceInOneDirectory() {
    TestNodes nodes = start();
    nodes.node(0).kill();
    nodes.node(1).freeze();

    assertThatThrownBy(this::start)
        .isInstanceOf(NodeException.class)
        .hasMessageContaining(directory().toString())
        .hasMessageContaining(nodes.node(1).uri());

    assertThat(nodes.node(1).state()).isEqualTo(State.FROZEN);
  }

  @Test
  void startAgainWhereAllHaveDied() {
    TestNodes dead = start();
    dead.all().forEach(TestNode::kill);

    assertThat(start().all()).extracting(TestNode::state).containsOnly(State.UP);
  }

  @Test
  void areNotStartedOrStoppedWhileAnotherProcessDoes() throws IOException {
    Files.createDirectories(directory());
    DirectoryLock.during(
        directory(),
        () ->
            assertThatThrownBy(this::start)
                .isInstanceOf(NodeException.class)
                .hasMessageContaining("now"));
  }

  @Test
  void aFailedStartLeavesNothing() {
    assertThatThrownBy(
            () ->
                TestNodes.builder()
                    .count(2)
                    .directory(directory())
                    .config("no-such-directive 1")
                    .detached()
                    .start())
        .isInstanceOf(NodeException.class);
    assertThat(directory()).doesNotExist();
  }

  @Test
  void needADirectory() {
    assertThatThrownBy(() -> TestNodes.builder().detached().start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("directory");
  }

  @Test
  void aDamagedFileIsNamedWithWhatToDo() throws IOException {
    Files.createDirectories(directory());
    Path file = Files.writeString(directory().resolve("nodes.properties"), "ports=a,b\n");
    try {
      assertThatThrownBy(() -> TestNodes.attach(directory()))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("delete the folder");
    } finally {
      Files.delete(file);
    }
  }

  @Test
  void aPidThatBelongsToAnotherProcessByNowIsNeverSignalled() throws Exception {
    Process stranger = new ProcessBuilder("sleep", "60").start();
    try (TestNodes others = TestNodes.start(1)) {
      TestNodes nodes = start();
      nodes.all().forEach(TestNode::kill);
      Files.writeString(pidFile(0), stranger.pid() + "\n");
      Files.writeString(pidFile(1), others.node(0).pid() + "\n");

      TestNodes attached = attached();
      assertThat(attached.all()).extracting(TestNode::state).containsOnly(State.DOWN);
      assertThatThrownBy(() -> attached.node(0).freeze()).isInstanceOf(NodeException.class);
      attached.node(0).kill();
      Files.writeString(pidFile(0), stranger.pid() + "\n");
      attached.node(1).restart();
      attached.node(1).kill();
      Files.writeString(pidFile(1), others.node(0).pid() + "\n");
      attached.stop();

      assertThat(stranger.isAlive()).isTrue();
      assertThat(others.node(0).command("PING")).isEqualTo("PONG");
    } finally {
      stranger.destroyForcibly();
    }
  }

  private static String session(String pid) throws IOException {
    String stat = Files.readString(Path.of("/proc", pid, "stat"), UTF_8);
    // After "pid (name)": state, parent, process group, session.
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3];
  }

  private TestNodes start() {
    return TestNodes.builder().count(2).directory(directory()).detached().start();
  }

  private TestNodes attached() {
    return TestNodes.attach(directory()).orElseThrow();
  }

  private Path directory() {
    return parent.resolve("nodes");
  }

  private Path pidFile(int index) {
    return directory().resolve("node-" + index).resolve(ServerProcess.PID_FILE);
  }
}
