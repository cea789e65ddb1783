package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.Subscription;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;

/** Subscriptions on a real server. */
class JedisPubSubConnectionTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  @Test
  void aSubscriptionThatIsClosedRightBeforeItsThreadListensLeavesNoConnection() {
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      CountDownLatch began = new CountDownLatch(1);
      AtomicInteger ends = new AtomicInteger();
      Subscription subscription =
          new Subscription(
              "channel",
              new Subscription.Listener() {
                @Override
                public void onMessage(String channel, String message) {}

                @Override
                public void onEnded(Subscription ended) {
                  ends.incrementAndGet();
                }
              });

      JedisPubSubConnection.serve(subscription, () -> closing(node, subscription, began), () -> {});

      await().atMost(LIMIT).until(() -> began.getCount() == 0);
      await()
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(threads()).noneMatch(name -> name.contains("listen")));
      assertThat(node.command("PUBSUB", "CHANNELS", "channel")).isEqualTo(List.of());
      assertThat(ends).hasValue(0);
    }
  }

  @Test
  void closingEndsAConnectionThatIsBeingMadeToANodeThatHangs() {
    try (TestNodes nodes = TestNodes.start(1)) {
      Subscription subscription = new Subscription("channel", (channel, message) -> {});
      ClosableSocket socket = new ClosableSocket();
      LockUrl url = LockUrl.parse("redlock:" + nodes.uris().get(0), Map.of());
      Address address = Address.of(RedisNodeUri.only(url), OpenSettings.none());
      nodes.node(0).freeze();
      JedisPubSubConnection.serve(
          subscription, () -> socket.connect(address, Duration.ofMinutes(5)), socket::close);
      await().atMost(LIMIT).until(JedisPubSubConnectionTest::readsAReply);

      subscription.close();

      assertThat(subscription.ended()).succeedsWithin(LIMIT);
    }
  }

  private static boolean readsAReply() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> thread.getKey().getName().contains("listen"))
        .anyMatch(
            thread ->
                Arrays.stream(thread.getValue())
                    .anyMatch(frame -> frame.getMethodName().equals("read")));
  }

  /** Jedis asks for this first of all, and connects again for it. */
  private static Connection closing(
      TestNode node, Subscription subscription, CountDownLatch began) {
    Connection connection =
        new Connection(new HostAndPort(node.host(), node.port())) {
          @Override
          public void setTimeoutInfinite() {
            subscription.close();
            super.setTimeoutInfinite();
            began.countDown();
          }
        };
    connection.connect();
    return connection;
  }

  private static Iterable<String> threads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
  }
}
