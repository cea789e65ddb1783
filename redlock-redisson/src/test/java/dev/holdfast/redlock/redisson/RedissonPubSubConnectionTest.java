package dev.holdfast.redlock.redisson;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Subscription;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNodes;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisPubSubConnection;

class RedissonPubSubConnectionTest {
  @Test
  void nameWithoutWaitersIsForgotten() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        RedisNodes nodes = nodes(servers.uris().get(0))) {
      Subscription subscription = new Subscription("always", (channel, message) -> {});
      nodes.subscribe(0, subscription);
      await().until(() -> field(Subscription.class, "connection", subscription) != null);
      RedisPubSubConnection connection =
          requireNonNull(
              (RedisPubSubConnection)
                  field(
                      RedissonPubSubConnection.class,
                      "connection",
                      requireNonNull(field(Subscription.class, "connection", subscription))));
      for (int i = 0; i < 100; i++) {
        String name = "name" + i;
        subscription.subscribe(name);
        await()
            .until(
                () -> List.of(name, 1L).equals(servers.node(0).command("PUBSUB", "NUMSUB", name)));
        subscription.unsubscribe(name);
      }
      for (String kept : List.of("unsubscribedChannels", "listeners")) {
        Map<?, ?> names =
            requireNonNull((Map<?, ?>) field(RedisPubSubConnection.class, kept, connection));
        await().untilAsserted(() -> assertThat(names).as(kept).hasSizeLessThanOrEqualTo(1));
      }
      subscription.close();
    }
  }

  private static RedisNodes nodes(String uri) {
    return RedissonRedlock.builder()
        .node(uri)
        .options(Links.PATIENT)
        .connections(OpenSettings.none());
  }

  private static @Nullable Object field(Class<?> type, String name, Object of) throws Exception {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}
