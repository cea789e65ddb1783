package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.protocol.RedisCommand;
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
  private final List<RedisCommand<?, ?, ?>> commands = new ArrayList<>();

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

  @Test
  void aNodeThatOwesAnAnswerIsToldTheRestInOneCommandOfEachKindAfterIt() {
    NodeEar ear = new NodeEar("first", (channel, message) -> {}, () -> {});
    ear.on(CompletableFuture.completedFuture(connection()), Runnable::run);
    assertThat(commands).hasSize(1);

    for (int name = 0; name < 1_000; name++) {
      ear.subscribe("name" + name);
      ear.subscribe("kept" + name);
      ear.unsubscribe("name" + name); // of which the node need not know
    }
    ear.unsubscribe("first");
    assertThat(commands).hasSize(1);
    for (int told = 0; told < commands.size(); told++) {
      commands.get(told).complete();
    }

    assertThat(commands)
        .extracting(command -> command.getType() + " " + command.getArgs().count())
        .containsExactlyInAnyOrder("SUBSCRIBE 1", "UNSUBSCRIBE 1", "SUBSCRIBE 1000");
  }

  @Test
  void aTimeOutOfYourClientDoesNotKeepTheRestBack() {
    NodeEar ear = new NodeEar("first", (channel, message) -> {}, () -> {});
    ear.on(CompletableFuture.completedFuture(connection()), Runnable::run);
    ear.subscribe("second");

    commands.get(0).completeExceptionally(new RedisCommandTimeoutException());

    assertThat(commands).hasSize(2);
    assertThat(asked).doesNotContain("closeAsync");
  }

  @SuppressWarnings("unchecked")
  private StatefulRedisPubSubConnection<String, String> connection() {
    return (StatefulRedisPubSubConnection<String, String>)
        Proxy.newProxyInstance(
            NodeEarTest.class.getClassLoader(),
            new Class<?>[] {StatefulRedisPubSubConnection.class},
            (proxy, method, arguments) -> answer(method, arguments));
  }

  private @Nullable Object answer(Method method, Object[] arguments) {
    asked.add(method.getName());
    if (method.getName().equals("dispatch")) {
      commands.add((RedisCommand<?, ?, ?>) arguments[0]);
    }
    return switch (method.getName()) {
      case "isOpen" -> true;
      case "closeAsync" -> CompletableFuture.completedFuture(null);
      default -> null;
    };
  }
}
