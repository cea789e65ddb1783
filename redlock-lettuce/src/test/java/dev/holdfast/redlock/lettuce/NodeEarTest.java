package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** With a connection that only writes down what it was asked for. */
class NodeEarTest {
  private final List<String> asked = new ArrayList<>();

  @Test
  void aConnectionIsClosedOnceHoweverOftenItsEarIsBecauseLettuceWarnsOfTheSecondTime() {
    NodeEar ear = new NodeEar("channel", (channel, message) -> {}, () -> {});
    ear.on(CompletableFuture.completedFuture(connection()), Runnable::run);

    ear.close();
    ear.close();

    assertThat(asked).containsOnlyOnce("closeAsync");
    assertThat(ear.gone()).isCompleted();
  }

  @Test
  void oneThatIsClosedWhileItConnectsIsClosedOnceTheConnectionIsThere() {
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting =
        new CompletableFuture<>();
    NodeEar ear = new NodeEar("channel", (channel, message) -> {}, () -> {});
    ear.on(connecting, Runnable::run);

    ear.close();
    assertThat(ear.gone()).isNotDone();
    connecting.complete(connection());

    assertThat(asked).containsOnlyOnce("closeAsync").doesNotContain("dispatch");
    assertThat(ear.gone()).isCompleted();
  }

  @SuppressWarnings("unchecked")
  private StatefulRedisPubSubConnection<String, String> connection() {
    return (StatefulRedisPubSubConnection<String, String>)
        Proxy.newProxyInstance(
            NodeEarTest.class.getClassLoader(),
            new Class<?>[] {StatefulRedisPubSubConnection.class},
            (proxy, method, arguments) -> answer(method));
  }

  private @Nullable Object answer(Method method) {
    asked.add(method.getName());
    return switch (method.getName()) {
      case "isOpen" -> true;
      case "closeAsync" -> CompletableFuture.completedFuture(null);
      default -> null;
    };
  }
}
