package dev.holdfast.redlock.redisson;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/**
 * The end of a connection: after a failure it is not known whose reply comes next: the connection
 * ends.
 */
class EndOfConnectionTest {
  @Test
  void aReplyThatIsNotUnderstoodEndsTheConnection() throws Exception {
    overAServerThatReplies(
        "+OK\r\n",
        "@nonsense\r\n",
        driver -> {
          AtomicInteger ends = driver.connect(0);
          Asked asked = Asked.of(driver.first(), "return 1");
          Asked next = Asked.of(driver.first(), "return 2");
          assertThat(asked.failure()).hasMessageContaining("nonsense");
          assertThat(next.failure()).isNotNull();
          soon().until(() -> ends.get() == 1);
          assertThat(Asked.of(driver.first(), "return 1").failure()).hasMessage("not connected");
        });
  }

  @Test
  void unsolicitedReplyEndsTheConnection() throws Exception {
    overAServerThatReplies(
        "+OK\r\n-ERR unasked\r\n",
        "",
        driver -> {
          AtomicInteger ends = driver.connect(0);
          soon().until(() -> ends.get() == 1);
        });
  }

  @Test
  void aCommandThatCannotBeWrittenEndsTheConnection() throws Exception {
    try (TestNodes servers = TestNodes.start(1)) {
      RedissonClient yours =
          YourClients.lazy(
              servers.node(0).uri(),
              config -> config.setCommandMapper(EndOfConnectionTest::nameOrFail));
      RedisNodes nodes = RedissonRedlock.builder().client(yours).connections(OpenSettings.none());
      try (Driver driver = new Driver(nodes, () -> YourClients.shutdown(yours))) {
        AtomicInteger ends = driver.connect(0);
        assertThat(Asked.of(nodes.first(), "return 1").failure()).hasMessage("no EVAL here");
        soon().until(() -> ends.get() == 1);
      }
    }
  }

  @Test
  void commandsOfAHangingNodeFailBeforeTheEndIsReported() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        Driver driver = Links.over(Links.Kind.OWN_CLIENT, servers.uris())) {
      Queue<Asked> asked = new ConcurrentLinkedQueue<>();
      CompletableFuture<Long> failedByTheEnd = new CompletableFuture<>();
      driver.connect(
          0,
          () ->
              failedByTheEnd.complete(
                  asked.stream().filter(one -> one.answers().size() == 1).count()));
      servers.node(0).freeze();
      Stream.generate(() -> Asked.of(driver.first(), "return 1")).limit(3_000).forEach(asked::add);
      driver.first().disconnect(0);
      assertThat(failedByTheEnd).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(3_000L);
      assertThat(asked) // those that were not written yet say so
          .extracting(one -> one.failure().getMessage())
          .isSubsetOf("the connection ended", "not connected");
    }
  }

  /** Connects to a server that gives these replies to PING and to the first script. */
  private static void overAServerThatReplies(String toPing, String toScript, Use use)
      throws Exception {
    try (ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      CompletableFuture.runAsync(() -> reply(door, toPing, toScript));
      String uri = "redis://127.0.0.1:" + door.getLocalPort();
      try (Driver driver = Links.over(Links.Kind.OWN_CLIENT, List.of(uri))) {
        use.with(driver);
      }
    }
  }

  private interface Use {
    void with(Driver driver) throws Exception;
  }

  private static String nameOrFail(String command) {
    if (command.equals("EVAL")) {
      throw new IllegalStateException("no EVAL here");
    }
    return command;
  }

  private static void reply(ServerSocket door, String toPing, String toScript) {
    try (Socket client = door.accept()) {
      byte[] buffer = new byte[16 * 1024];
      for (int read = 0; read >= 0; read = client.getInputStream().read(buffer)) {
        String commands = new String(buffer, 0, read, UTF_8);
        for (String word : List.of(commands.split("\r\n"))) {
          String answer =
              switch (word) {
                case "CLIENT" -> "+OK\r\n";
                case "PING" -> toPing;
                case "EVAL" -> toScript;
                default -> "";
              };
          client.getOutputStream().write(answer.getBytes(UTF_8));
        }
      }
    } catch (IOException e) {
      // the driver has closed it
    }
  }
}
