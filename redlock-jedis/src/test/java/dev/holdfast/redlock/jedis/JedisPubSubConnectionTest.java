package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redlock.spi.Subscription;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
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
