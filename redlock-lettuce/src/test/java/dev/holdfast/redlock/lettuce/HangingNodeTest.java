package dev.holdfast.redlock.lettuce;

import static dev.holdfast.drivertests.Soon.soon;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When a connection ends, what was written to it costs the loop of all nodes its time. */
class HangingNodeTest {
  private static final String APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])";
  private static final int ASKED = 3_500;

  private final Written written = new Written();

  @Test
  void noMoreThanAThousandCommandsAreWrittenToANodeThatDoesNotAnswer() throws Exception {
    ClientResources resources = ClientResources.builder().nettyCustomizer(written).build();
    RedisClient client = RedisClient.create(resources);
    ExecutorService sender = Executors.newSingleThreadExecutor();
    try (TestNodes servers = TestNodes.start(1)) {
      TestNode server = servers.node(0);
      NodeLink link = new NodeLink(0, client, RedisURI.create(server.uri()));
      LettuceNodes nodes = new LettuceNodes(List.of(link), sender, () -> {});
      new Driver(nodes, () -> {}).connect(0);
      AtomicInteger answers = new AtomicInteger();

      server.freeze();
      for (int i = 0; i < ASKED; i++) {
        Asked.of(nodes, 1, answers::incrementAndGet, APPEND, Integer.toString(i));
      }
      sender.submit(() -> {}).get(10, SECONDS);
      written.await();
      assertThat(written.commands).hasValue(1_000);

      server.thaw();
      soon().until(() -> answers.get() == ASKED);
      assertThat(server.command("LRANGE", "the-key", "0", "-1"))
          .isEqualTo(IntStream.range(0, ASKED).mapToObj(Integer::toString).toList());
      nodes.close();
    } finally {
      client.shutdown();
      resources.shutdown();
      sender.shutdownNow();
    }
  }

  /** Counts the scripts that go to the socket. */
  private static final class Written implements NettyCustomizer {
    private final AtomicInteger commands = new AtomicInteger();
    private final List<Channel> channels = new ArrayList<>();

    @Override
    public void afterChannelInitialized(Channel channel) {
      channels.add(channel);
      channel
          .pipeline()
          .addFirst(
              new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(
                    ChannelHandlerContext context, Object message, ChannelPromise promise) {
                  String text = ((ByteBuf) message).toString(UTF_8);
                  commands.addAndGet(text.split("EVAL", -1).length - 1);
                  context.write(message, promise);
                }
              });
    }

    /** Until what was written by others has reached the loops. */
    void await() throws Exception {
      for (Channel channel : channels) {
        channel.eventLoop().submit(() -> {}).get(10, SECONDS);
      }
    }
  }
}
