package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.github.dockerjava.api.model.Container;
import dev.holdfast.testnodes.TestNode.State;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.RemoteDockerImage;

/**
 * Behaviour of nodes in containers alone. The other tests run for them too, if a property says so.
 */
class ContainersTest {
  @SuppressWarnings("NullAway.Init")
  private static DockerEngine engine;

  @BeforeAll
  static void findDocker() {
    String whyNot = "";
    try {
      engine = DockerEngine.connect();
    } catch (NodeException e) {
      whyNot = String.valueOf(e.getMessage());
    }
    assumeThat(whyNot).as("a Docker engine answers").isEmpty();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(containers(DockerEngine.THIS_JVM)).isEmpty();
  }

  @Test
  void aNodeIsFrozenThawedKilledAndRestartedOnItsPort() {
    try (TestNodes nodes = builder(1).start()) {
      TestNode node = nodes.node(0);
      int port = node.port();
      assertThat((String) node.command("INFO", "server"))
          .contains("_version:" + node.version() + "\r\n");
      node.fill("key", 3);

      node.freeze();
      assertThat(node.state()).isEqualTo(State.FROZEN);
      assertThatThrownBy(() -> node.command("PING")).hasMessageContaining("did not answer PING");
      node.thaw();
      assertThat(node.command("DBSIZE")).isEqualTo(4L); // with the mark of a new node

      node.kill();
      assertThat(node.state()).isEqualTo(State.DOWN);
      assertThatThrownBy(() -> node.command("PING")).hasMessageContaining("refused");

      node.restart();
      assertThat(node.port()).isEqualTo(port);
      assertThat(node.command("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void dataOnDiskOutlivesASigkillButNotAPlainRestart() {
    try (TestNodes nodes = builder(1).config("appendonly yes").start()) {
      TestNode node = nodes.node(0);
      node.fill("key", 3);
      node.freeze();
      node.restartWithData();
      assertThat(node.command("DBSIZE")).isEqualTo(4L); // with the mark of a new node

      node.restart();
      assertThat(node.command("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void usersOfTheConfigurationReachEveryNode() {
    try (TestNodes nodes = builder(2).config("user app on >right ~* &* +@all").start()) {
      for (TestNode node : nodes.all()) {
        try (RawRedis redis = RawRedis.connect(node.host(), node.port())) {
          assertThat(redis.call("AUTH", "app", "right")).isEqualTo("OK");
          assertThat(redis.call("ACL", "WHOAMI")).isEqualTo("app");
        }
      }
    }
  }

  @Test
  void nodesAreNotOpenToOtherMachines() throws IOException {
    assumeThat(engine.host()).as("the engine is on this machine").isEqualTo("127.0.0.1");
    List<InetAddress> others =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
            .toList();
    assertThat(others).as("at least the one of Docker's own network").isNotEmpty();
    try (TestNodes nodes = builder(1).start()) {
      for (InetAddress other : others) {
        assertThatThrownBy(
                () ->
                    RawRedis.connect(other.getHostAddress(), nodes.node(0).port(), Limits.LONG)
                        .close())
            .isInstanceOf(NodeException.class)
            .hasMessageContaining("refused");
      }
    }
  }

  @Test
  void aPortThatIsTakenWhenTheContainerStartsIsReplaced() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TestNodes others = builder(1).start()) {
      Deque<Integer> first =
          new ArrayDeque<>(
              List.of(taken.getLocalPort(), others.node(0).port(), Ports.free(1).get(0)));
      try (TestNodes nodes = builder(1).ports(n -> List.of(first.remove())).start()) {
        assertThat(first).isEmpty();
        assertThat(nodes.node(0).command("PING")).isEqualTo("PONG");
      }
    }
  }

  @Test
  void aDirectiveThatRedisRefusesIsShownWithoutASecretAndNothingIsLeft() {
    assertThatThrownBy(() -> builder(2).config("no-such-directive 1").start().close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("did not start: it ended")
        .hasMessageContaining("no-such-directive");
    assertThatThrownBy(() -> builder(1).config("requirepass secret1 and more").start().close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("(a line with a secret)")
        .hasMessageNotContaining("secret1");
  }

  @Test
  void detachedNodesAndDirectoriesAreRefused() {
    assertThatThrownBy(() -> builder(1).directory(Path.of("nodes")).start().close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("leave out directory(…)");
    assertThatThrownBy(() -> builder(1).directory(Path.of("nodes")).detached().start().close())
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("leave out detached()");
  }

  @Test
  void anImageWithoutRedisOnItsPathIsNamed() {
    String image = "holdfast-test-without-redis:1";
    RemoteDockerImage redis = DockerEngine.pulled(ContainerSource.DEFAULT_IMAGE);
    try (GenericContainer<?> container = DockerEngine.container(redis)) {
      container.start();
      engine
          .client()
          .commitCmd(container.getContainerId())
          .withRepository("holdfast-test-without-redis")
          .withTag("1")
          .withEnv("PATH=/nowhere")
          .exec();
    }
    try {
      assertThatThrownBy(() -> startFrom(image))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining("Cannot run a redis-server of the image " + image)
          .hasMessageContaining("executable file not found")
          .hasMessageContaining("-Dholdfast.testNodes=embedded");
    } finally {
      engine.client().removeImageCmd(image).exec();
    }
  }

  @Test
  void aTextThatIsNoNameOfAnImageIsRefused() {
    assertThatThrownBy(() -> startFrom("No Image"))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("Cannot run a redis-server of the image No Image")
        .hasMessageContaining("-Dholdfast.testNodes=docker:IMAGE");
  }

  @Test
  void containersAreRemovedWhenTheJvmEnds() throws Exception {
    try (SecondJvm jvm = SecondJvm.run("containers")) {
      String other = jvm.readLine()[0];
      assertThat(containers(other)).hasSize(2);
      jvm.sendEnd();
      assertThat(jvm.awaitExitCode()).isZero();
      // No wait: the shutdown hook has done it.
      assertThat(containers(other)).isEmpty();
    }
  }

  private static List<Container> containers(String jvm) {
    return engine
        .client()
        .listContainersCmd()
        .withShowAll(true)
        .withLabelFilter(Map.of(DockerEngine.LABEL, jvm))
        .exec();
  }

  private static void startFrom(String image) {
    TestNodes.builder().source(NodeSource.containers(image)).count(1).start().close();
  }

  private static TestNodes.Builder builder(int count) {
    return TestNodes.builder().source(NodeSource.containers()).count(count);
  }
}
