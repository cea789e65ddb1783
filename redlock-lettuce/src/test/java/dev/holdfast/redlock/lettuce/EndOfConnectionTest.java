package dev.holdfast.redlock.lettuce;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EndOfConnectionTest {
  /** The sender's tasks, which run when the test says so. */
  private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

  @Test
  void endIsReportedAfterEarlierCommandsHaveFailed() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        ManagedClient client = ManagedClient.start(Duration.ofSeconds(10), OpenSettings.none())) {
      TestNode server = servers.node(0);
      LettuceNode link = new LettuceNode(client, RedisURI.create(server.uri()), tasks::add);
      RedisNodes nodes = new PipelinedNodes<>(Stream.of(link), Command::encoded, () -> {});
      AtomicInteger ends = new Driver(nodes, () -> {}).connect(0);

      Asked waiting = Asked.of(nodes.first(), "return 1");
      server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");

      soon().until(() -> tasks.size() == 2);
      tasks.remove().run();
      assertThat(waiting.answers()).isEmpty();
      assertThat(ends).hasValue(0);
      tasks.remove().run();
      assertThat(waiting.failure()).hasMessage("the connection ended");
      assertThat(ends).hasValue(1);
    }
  }
}
