package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testnodes.TestNode.State;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestNodesTest {
  @Test
  void startsAsManyIndependentServersAsAskedFor() {
    try (TestNodes nodes = TestNodes.start(5)) {
      assertThat(nodes.size()).isEqualTo(5);
      assertThat(nodes.all()).extracting(TestNode::state).containsOnly(State.UP);
      assertThat(nodes.all()).extracting(TestNode::index).containsExactly(0, 1, 2, 3, 4);
      assertThat(nodes.all()).extracting(TestNode::pid).doesNotHaveDuplicates();
      assertThat(nodes.uris())
          .doesNotHaveDuplicates()
          .containsExactlyElementsOf(nodes.all().stream().map(TestNode::uri).toList());

      nodes.node(0).command("SET", "x", "1");
      assertThat(nodes.node(1).command("GET", "x")).isNull();
    }
  }

  @Test
  void nothingIsKeptOnDisk() {
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      assertThat(node.command("CONFIG", "GET", "save")).isEqualTo(List.of("save", ""));
      assertThat(node.command("CONFIG", "GET", "appendonly"))
          .isEqualTo(List.of("appendonly", "no"));
      assertThat(node.command("CONFIG", "GET", "appendfsync"))
          .as("what was answered must not wait for a slow disk before it is written")
          .isEqualTo(List.of("appendfsync", "no"));
    }
  }

  @Test
  void nothingListensElsewhere() {
    DefaultSource.assumeProcesses("Docker decides who may reach a container");
    try (TestNodes nodes = TestNodes.start(1)) {
      assertThat(nodes.node(0).command("CONFIG", "GET", "bind"))
          .isEqualTo(List.of("bind", "127.0.0.1"));
    }
  }

  @Test
  void closeKillsAlsoFrozenAndDeadOnesAndDeletesTheirFiles() {
    DefaultSource.assumeProcesses("containers keep no files on this machine");
    TestNodes nodes = TestNodes.start(3);
    Path directory = Path.of(SecondJvm.directoryOf(nodes.node(0))).getParent();
    assertThat(directory).isDirectory();
    long[] pids = {nodes.node(0).pid(), nodes.node(1).pid()};
    nodes.node(1).freeze();
    nodes.node(2).kill();

    nodes.close();
    nodes.close();

    assertThat(Arrays.stream(pids).mapToObj(OsProcess::find)).containsOnly(Optional.empty());
    assertThat(nodes.all()).extracting(TestNode::state).containsOnly(State.DOWN);
    assertThat(directory).doesNotExist();
  }

  @Test
  void closedNodesStayDown() {
    TestNodes nodes = TestNodes.start(1);
    nodes.close();

    assertThatThrownBy(() -> nodes.node(0).restart())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("have been closed");
    assertThatCode(() -> nodes.node(0).kill()).doesNotThrowAnyException();
  }

  @Test
  void severalThreadsMayStartNodesAtTheSameTime() {
    List<CompletableFuture<TestNodes>> starts =
        IntStream.range(0, 4)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> TestNodes.start(3)))
            .toList();
    List<TestNodes> started = starts.stream().map(CompletableFuture::join).toList();
    try {
      assertThat(started.stream().flatMap(nodes -> nodes.uris().stream()))
          .hasSize(12)
          .doesNotHaveDuplicates();
      assertThat(started.stream().flatMap(nodes -> nodes.all().stream()))
          .allSatisfy(node -> assertThat(node.command("PING")).isEqualTo("PONG"));
    } finally {
      started.forEach(TestNodes::close);
    }
  }

  @Test
  void aPortThatIsTakenWhenTheServerStartsIsReplaced() throws IOException {
    try (ServerSocket taken = listening();
        TestNodes others = TestNodes.start(1)) {
      Deque<Integer> first = new ArrayDeque<>(List.of(taken.getLocalPort(), others.node(0).port()));
      try (TestNodes nodes =
          TestNodes.builder()
              .count(2)
              .ports(n -> IntStream.range(0, n).mapToObj(i -> portFrom(first)).toList())
              .start()) {
        assertThat(nodes.all())
            .extracting(TestNode::port)
            .doesNotHaveDuplicates()
            .doesNotContain(taken.getLocalPort(), others.node(0).port());
        assertThat(nodes.all()).allSatisfy(DefaultSource::assertAnswersItself);
      }
      assertThat(others.node(0).command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void aServerThatAnswersOnThePortOfOneThatIsSlowToStartIsNotTakenForIt(@TempDir Path folder)
      throws IOException {
    Path slow =
        Scripts.executable(
            folder.resolve("redis-server"),
            """
            [ "$1" = --version ] && exec '%1$s' --version
            (sleep 0.3; '%1$s' "$1"; sleep 0.3; :) > /dev/null 2>&1 &
            echo "pid=$!, just started" >> "$(dirname "$1")/redis.log"
            """
                .formatted(EmbeddedBinary.extracted()));
    try (TestNodes others = TestNodes.start(1)) {
      Deque<Integer> first = new ArrayDeque<>(List.of(others.node(0).port()));
      try (TestNodes nodes =
          TestNodes.builder()
              .count(1)
              .source(NodeSource.binary(slow))
              .ports(n -> List.of(portFrom(first)))
              .start()) {
        assertThat(nodes.node(0).port()).isNotEqualTo(others.node(0).port());
      }
      assertThat(others.node(0).command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void itDoesNotLookForAPortForever() throws IOException {
    try (ServerSocket taken = listening()) {
      assertThatThrownBy(
              () ->
                  TestNodes.builder()
                      .count(1)
                      .ports(n -> List.of(taken.getLocalPort()))
                      .start()
                      .close())
          .isInstanceOf(NodeException.class)
          .hasMessageContaining("ports was taken");
    }
  }

  @Test
  void aRestartOnAPortThatIsTakenByNowSaysSo() throws IOException {
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      node.kill();
      try (ServerSocket taken =
          new ServerSocket(node.port(), 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
        assertThat(taken.isBound()).isTrue();
        assertThatThrownBy(node::restart)
            .isInstanceOf(NodeException.class)
            .hasMessageContaining(node.toString())
            .hasMessageContaining("another process listens on its port");
      }
      node.restart();
      assertThat(node.command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void moreDirectivesGoToEveryNode() {
    try (TestNodes nodes =
        TestNodes.builder().count(2).config("maxmemory 64mb", "databases 3").start()) {
      assertThat(nodes.all())
          .allSatisfy(
              node ->
                  assertThat(node.command("CONFIG", "GET", "databases"))
                      .isEqualTo(List.of("databases", "3")));
    }
  }

  @Test
  void nodesThatWantAPasswordStartToo() {
    try (TestNodes nodes = TestNodes.builder().count(1).config("requirepass hidden").start();
        RawRedis redis = RawRedis.connect("127.0.0.1", nodes.node(0).port())) {
      assertThatThrownBy(() -> redis.call("GET", "x"))
          .isInstanceOf(RedisErrorReply.class)
          .hasMessageStartingWith("NOAUTH");
      assertThat(redis.call("AUTH", "hidden")).isEqualTo("OK");
    }
  }

  @Test
  void aDirectiveThatIsOursOrSpansLinesIsRefused() {
    TestNodes.Builder builder = TestNodes.builder();
    assertThatThrownBy(() -> builder.config(" PORT 6379"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("port");
    assertThatThrownBy(() -> builder.config("maxmemory 1mb\nport 6379"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("line break");
    assertThatThrownBy(() -> builder.count(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aDirectiveThatRedisRefusesIsShownInTheErrorAndNothingIsLeft(@TempDir Path directory) {
    DefaultSource.assumeProcesses("containers keep no files on this machine");
    assertThatThrownBy(
            () ->
                TestNodes.builder()
                    .count(2)
                    .directory(directory)
                    .config("no-such-directive 1")
                    .start()
                    .close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("no-such-directive");
  }

  @Test
  void anErrorNeverShowsAPassword() {
    assertThatThrownBy(
            () ->
                TestNodes.builder()
                    .count(1)
                    .config("requirepass secret1 and more", "masterauth a b")
                    .start()
                    .close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("did not start")
        .hasMessageNotContaining("secret1");
  }

  @Test
  void filesInADirectoryOfOnesOwnAreLeftThereForALook(@TempDir Path parent) {
    DefaultSource.assumeProcesses("containers keep no files on this machine");
    Path directory = parent.resolve("with a \"quoted\" name");
    TestNodes.builder().count(1).directory(directory).start().close();

    assertThat(directory.resolve("node-0").resolve(ServerProcess.LOG_FILE))
        .content()
        .contains("Ready to accept connections");
  }

  @Test
  void nodesStartEmptyInADirectoryThatHoldsOldData(@TempDir Path directory) {
    DefaultSource.assumeProcesses("containers keep no files on this machine");
    try (TestNodes nodes = TestNodes.builder().count(1).directory(directory).start()) {
      nodes.node(0).fill("key", 5);
      nodes.node(0).command("SAVE");
    }
    try (TestNodes nodes = TestNodes.builder().count(1).directory(directory).start()) {
      assertThat(nodes.node(0).command("KEYS", "*"))
          .as("the mark of a new node")
          .isEqualTo(List.of("holdfast:guard"));
    }
  }

  @Test
  void serversDieWithAJvmThatEnds() throws Exception {
    try (SecondJvm jvm = SecondJvm.run("own")) {
      String[] said = jvm.readLine();
      jvm.sendEnd();
      assertThat(jvm.awaitExitCode()).isZero();
      // No wait: the shutdown hook has done it.
      assertThat(OsProcess.find(Long.parseLong(said[1]))).isEmpty();
      assertThat(OsProcess.find(Long.parseLong(said[2]))).isEmpty();
      assertThat(Path.of(said[0]).getParent()).doesNotExist();
    }
  }

  @Test
  void noServerIsStartedByAJvmThatEnds() throws Exception {
    try (SecondJvm jvm = SecondJvm.run("start-at-the-end")) {
      assertThat(String.join(" ", jvm.readLine()))
          .isEqualTo("No node is started, because this JVM is ending.");
      assertThat(jvm.awaitExitCode()).isZero();
    }
  }

  @Test
  void serversDieWithAJvmThatIsKilledBySigkill() throws Exception {
    try (SecondJvm jvm = SecondJvm.run("own")) {
      String[] said = jvm.readLine();
      jvm.sigkill();
      await()
          .atMost(Limits.LONG)
          .untilAsserted(
              () -> {
                assertThat(OsProcess.find(Long.parseLong(said[1]))).isEmpty();
                assertThat(OsProcess.find(Long.parseLong(said[2]))).isEmpty();
                assertThat(Files.exists(Path.of(said[0]).getParent())).isFalse();
              });
    }
  }

  private static int portFrom(Deque<Integer> first) {
    Integer port = first.poll();
    return port == null ? Ports.free(1).get(0) : port;
  }

  private static ServerSocket listening() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
  }
}
