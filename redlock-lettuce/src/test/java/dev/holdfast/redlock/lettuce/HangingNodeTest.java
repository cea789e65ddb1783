package dev.holdfast.redlock.lettuce;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNodes;
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
import io.netty.channel.EventLoop;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** When a connection ends, what was written to it costs the loop of all nodes its time. */
class HangingNodeTest {
  private static final String APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])";
  private static final int MAX_WRITTEN = 1_000;
  private static final int ASKED = 3_500;
  private static final int ASKED_LATER = 500;

  private final Written written = new Written();
  private final ClientResources resources =
      ClientResources.builder().nettyCustomizer(written).build();
  private final AtomicInteger answers = new AtomicInteger();

  @Test
  void atMostAThousandCommandsAreWrittenToAHangingNode() throws Exception {
    ExecutorService sender = Executors.newSingleThreadExecutor();
    try {
      requireThatMostWaitAndNoneOvertakes(RedisClient.create(resources), sender);
    } finally {
      sender.shutdownNow();
    }
  }

  @Test
  void batchesToAHangingNodeAreLimitedToo() throws Exception {
    written.opensBatches = true;
    requireThatMostWaitAndNoneOvertakes(
        new ManagedClient(resources, new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)),
        task -> written.loop().execute(task));
  }

  private void requireThatMostWaitAndNoneOvertakes(RedisClient client, Executor sender)
      throws Exception {
    try (TestNodes servers = TestNodes.start(1)) {
      TestNode server = servers.node(0);
      LettuceNode link = new LettuceNode(client, RedisURI.create(server.uri()), sender);
      RedisNodes nodes = new PipelinedNodes<>(Stream.of(link), Command::encoded, () -> {});
      new Driver(nodes, () -> {}).connect(0);

      server.freeze();
      for (int i = 0; i < ASKED; i++) {
        ask(nodes, i);
      }
      CompletableFuture.runAsync(() -> {}, sender).get(10, SECONDS);
      written.await();
      assertThat(written.commands).hasValue(MAX_WRITTEN);

      server.thaw();
      soon().until(() -> answers.get() == ASKED + ASKED_LATER);
      assertThat(server.command("LRANGE", "the-key", "0", "-1"))
          .isEqualTo(IntStream.range(0, ASKED + ASKED_LATER).mapToObj(Integer::toString).toList());
      nodes.close();
    } finally {
      client.shutdown();
      resources.shutdown();
    }
  }

  /** Sends more with the first answers, while others are still awaited. */
  private void ask(RedisNodes nodes, int number) {
    Runnable whenAnswered =
        () -> {
          int answer = answers.incrementAndGet();
          if (answer <= ASKED_LATER) {
            ask(nodes, ASKED + answer - 1);
          }
        };
    Asked.of(nodes.first(), NodeSet.of(0), whenAnswered, APPEND, Integer.toString(number));
  }

  /** Counts the scripts that go to the socket. */
  private static final class Written implements NettyCustomizer {
    private final AtomicInteger commands = new AtomicInteger();
    private final List<Channel> channels = new CopyOnWriteArrayList<>();
    private boolean opensBatches;

    @Override
    public void afterChannelInitialized(Channel channel) {
      channels.add(channel);
      if (opensBatches) {
        channel.pipeline().addLast(new NodeBatch.Opener());
      }
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

    /** The connection's. */
    EventLoop loop() {
      return channels.get(0).eventLoop();
    }

    /** Until what was written by others has reached the loops. */
    void await() throws Exception {
      for (Channel channel : channels) {
        channel.eventLoop().submit(() -> {}).get(10, SECONDS);
      }
    }
  }
}
